-- +goose Up
-- A digest of the logs with which a block was committed, as indexer/evm writes it, where one endpoint alone vouches for them. NULL where two
-- do, and in rows of before this column: nobody knows what those rested on, and they are never asked for again.
ALTER TABLE blocks ADD COLUMN logs_hash {{bytes}};
-- The facts of which no two endpoints gave the same, until two do or another fact corrects them.
CREATE TABLE unsure_facts (
    chain TEXT NOT NULL,
    block BIGINT NOT NULL,
    kind  TEXT NOT NULL,
    ref   {{bytes}} NOT NULL,
    hash  {{bytes}} NOT NULL,
    PRIMARY KEY (chain, block, kind, ref)
) {{clustered}};
