-- +goose Up
-- The block whose commit last changed a row, and its time (unix seconds); 0 where that was before these columns.
ALTER TABLE tokens ADD COLUMN changed_block BIGINT NOT NULL DEFAULT 0;
ALTER TABLE tokens ADD COLUMN changed_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE pools ADD COLUMN changed_block BIGINT NOT NULL DEFAULT 0;
ALTER TABLE pools ADD COLUMN changed_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE quote_prices ADD COLUMN changed_block BIGINT NOT NULL DEFAULT 0;
ALTER TABLE quote_prices ADD COLUMN changed_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE launches ADD COLUMN changed_block BIGINT NOT NULL DEFAULT 0;
ALTER TABLE launches ADD COLUMN changed_at BIGINT NOT NULL DEFAULT 0;
