-- +goose Up
-- What each of an index's newest commits changed. A number without a row was left out when the index took another one's place, or is of a commit that a binary of
-- before this table made, or of one that is older than those that are kept.
CREATE TABLE commits (
    chain    TEXT NOT NULL,
    number   BIGINT NOT NULL,
    -- The sum of 1 for pools, 2 for quotes' prices, 4 for metadata, 8 for trust reports; 16 where tokens, and 32 where launches, are too many for a list.
    kinds    INTEGER NOT NULL,
    -- The tokens whose rows, or whose pools' rows, changed, and those whose launches did: of each the length of its address, in a byte, and the address.
    tokens   {{bytes}} NOT NULL,
    launches {{bytes}} NOT NULL,
    PRIMARY KEY (chain, number)
) {{clustered}};
