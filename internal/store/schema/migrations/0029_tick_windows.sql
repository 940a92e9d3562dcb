-- +goose Up
-- The part of a pool's ticks that pool_ticks has, from window_lower up to window_upper. Both are 0 where it has all of them.
ALTER TABLE pools ADD COLUMN window_lower INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pools ADD COLUMN window_upper INTEGER NOT NULL DEFAULT 0;
