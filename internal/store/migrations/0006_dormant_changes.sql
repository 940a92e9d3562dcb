-- +goose Up
-- The price of a pool before its window in whole quotes, and what a quote asset was worth then in USD; 0 while unknown.
ALTER TABLE pools ADD COLUMN day_reference_quote DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE quote_prices ADD COLUMN day_usd DOUBLE PRECISION NOT NULL DEFAULT 0;
