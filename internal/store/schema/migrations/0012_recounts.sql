-- +goose Up
-- How far a recount has come of a token's holders whose count was given up: begun, reading or proven; empty for a first count. A binary of
-- before ends a recount without a result.
ALTER TABLE holder_jobs ADD COLUMN recount TEXT NOT NULL DEFAULT '';
-- How often a token's holders were counted anew, and from when on (unix seconds) they may be again.
CREATE TABLE holder_recounts (
    chain   TEXT NOT NULL,
    token   {{bytes}} NOT NULL,
    times   INTEGER NOT NULL,
    next_at BIGINT NOT NULL,
    PRIMARY KEY (chain, token)
) {{clustered}};
