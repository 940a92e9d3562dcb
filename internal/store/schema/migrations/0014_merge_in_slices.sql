-- +goose Up
-- What a job has read, since when (unix seconds), and the cap that the token is beyond. A binary of before takes such a job for a broken one.
ALTER TABLE holder_jobs ADD COLUMN beyond TEXT NOT NULL DEFAULT '';
ALTER TABLE holder_jobs ADD COLUMN begun_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE holder_jobs ADD COLUMN accounts BIGINT NOT NULL DEFAULT 0;
ALTER TABLE holder_jobs ADD COLUMN transfers BIGINT NOT NULL DEFAULT 0;
ALTER TABLE holder_jobs ADD COLUMN ranges BIGINT NOT NULL DEFAULT 0;
-- How far a merge has come: the last account and the last waiting transfer that were taken over, and how many holders they make. Staged
-- balances and waiting transfers stay until the merge has ended and no reorg can take its end back, so that a binary of before, which
-- merges all at once, finds all of them.
ALTER TABLE holder_jobs ADD COLUMN step TEXT NOT NULL DEFAULT '';
ALTER TABLE holder_jobs ADD COLUMN merged_account {{bytes}};
ALTER TABLE holder_jobs ADD COLUMN queue_block BIGINT NOT NULL DEFAULT 0;
ALTER TABLE holder_jobs ADD COLUMN queue_seq BIGINT NOT NULL DEFAULT 0;
ALTER TABLE holder_jobs ADD COLUMN holders BIGINT NOT NULL DEFAULT 0;
ALTER TABLE holder_jobs ADD COLUMN ended_in BIGINT NOT NULL DEFAULT 0;
-- The caps under which the token had too many accounts or transfers to be counted.
ALTER TABLE holder_recounts ADD COLUMN caps TEXT NOT NULL DEFAULT '';
