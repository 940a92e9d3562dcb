-- +goose Up
-- Where the metadata of a token is that wasn't launched, as its account or Metaplex's account of it says; empty of a launch, whose announcement says it.
ALTER TABLE token_metadata ADD COLUMN uri TEXT NOT NULL DEFAULT '';
