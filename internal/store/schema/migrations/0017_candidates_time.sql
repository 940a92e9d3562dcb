-- +goose Up
-- The time of the block since which the candidate is as deep as it must be; unix seconds. A candidate of before counts as long enough there.
ALTER TABLE tokens ADD COLUMN candidate_at BIGINT NOT NULL DEFAULT 0;
