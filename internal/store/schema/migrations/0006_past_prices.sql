-- +goose Up
-- The price of a pool before its window in whole quotes, and what a quote asset was worth then in USD; 0 while unknown.
ALTER TABLE pools ADD COLUMN day_reference_quote DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE quote_prices ADD COLUMN day_usd DOUBLE PRECISION NOT NULL DEFAULT 0;
-- By how much a token's holders grew, halved after each 30 minutes, and as of when; unix seconds.
ALTER TABLE tokens ADD COLUMN holders_gained DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE tokens ADD COLUMN holders_gained_at BIGINT NOT NULL DEFAULT 0;
