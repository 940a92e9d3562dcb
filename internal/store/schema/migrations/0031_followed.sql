-- +goose Up
-- For which declared tokens, and under which epoch of the lease, it was last seen that nothing else's balances are kept; empty where nobody looked since a
-- rewind, which may bring such a token back.
ALTER TABLE chains ADD COLUMN followed TEXT NOT NULL DEFAULT '';
