-- +goose Up
-- A token's pools are few, a chain's are many: without statistics SQLite takes the primary key's chain for as good a
-- start as the chain and the base together, and reads all of them.
DROP INDEX pools_base;
CREATE INDEX pools_base ON pools (base);
