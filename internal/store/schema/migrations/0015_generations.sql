-- +goose Up
-- A chain may have several indexes. The first one has the chain's id, a later one the id with its generation ("base~2"): so are the rows of all
-- tables marked. One of them is served.
ALTER TABLE chains ADD COLUMN served BOOLEAN NOT NULL DEFAULT TRUE;
-- The generation that `boardwalk reindex` asked for, of the served index; 0 for none. Anew says that facts are asked again.
ALTER TABLE chains ADD COLUMN wanted BIGINT NOT NULL DEFAULT 0;
ALTER TABLE chains ADD COLUMN wanted_anew BOOLEAN NOT NULL DEFAULT FALSE;
