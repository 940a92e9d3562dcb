-- +goose Up
-- The trades of a wallet. Nothing but the trader: SQLite appends the primary key by itself, PostgreSQL folds equal keys.
CREATE INDEX trades_trader ON trades (trader);
