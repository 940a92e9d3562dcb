-- +goose Up
-- What clients follow by cursor: members' trades and launches, numbered by one counter. What is taken back is deleted, and told under a number of its own.
CREATE TABLE stream (
    number   BIGINT PRIMARY KEY,
    kind     TEXT NOT NULL,
    -- The chain, not one of its indexes.
    chain    TEXT NOT NULL,
    -- The number of the item that is retracted; 0 for an item. A retraction has the kind and the chain of its item, and the time of what retracted it; the
    -- rest is of items alone.
    retracts BIGINT NOT NULL,
    block    BIGINT NOT NULL,
    time     BIGINT NOT NULL,
    token    {{bytes}},
    -- Of a trade.
    wallet   {{bytes}},
    member   BIGINT NOT NULL,
    tx       {{bytes}},
    sell     BOOLEAN NOT NULL
) {{clustered}};
CREATE INDEX stream_by_block ON stream (chain, block);
CREATE INDEX stream_by_time ON stream (time);
CREATE INDEX stream_by_kind ON stream (kind, number) WHERE retracts = 0;
CREATE INDEX stream_by_token ON stream (token, number) WHERE retracts = 0;
CREATE INDEX stream_retractions ON stream (number) WHERE retracts > 0;
CREATE INDEX stream_by_wallet ON stream (wallet) WHERE wallet IS NOT NULL;

-- Launches from before are in no stream.
ALTER TABLE launches ADD COLUMN unvalued BOOLEAN NOT NULL DEFAULT FALSE;
