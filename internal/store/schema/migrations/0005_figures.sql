-- +goose Up
-- When a chain counts as silent unless one of its nodes answers before; unix seconds.
ALTER TABLE chains ADD COLUMN silent_from BIGINT NOT NULL DEFAULT 0;
-- How many answers of the contract in a row contradicted the supply that follows from its transfers.
ALTER TABLE tokens ADD COLUMN supply_strikes INTEGER NOT NULL DEFAULT 0;
