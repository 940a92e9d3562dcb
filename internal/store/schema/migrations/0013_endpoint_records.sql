-- +goose Up
-- The endpoints of a chain that others, or a header, contradicted, by a hash of their address: how often, and when last (unix seconds).
CREATE TABLE endpoint_records (
    chain       TEXT NOT NULL,
    endpoint    {{bytes}} NOT NULL,
    outvoted    INTEGER NOT NULL,
    outvoted_at BIGINT NOT NULL,
    PRIMARY KEY (chain, endpoint)
) {{clustered}};
