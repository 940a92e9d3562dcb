-- +goose Up
-- What a pool of PumpSwap adds to its second reserve for its price alone: 32 bytes, as a signed number; NULL is none.
ALTER TABLE pools ADD COLUMN virtual1 {{bytes}};
