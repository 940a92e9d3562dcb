-- +goose Up
-- Members' calls of tokens: that a price will rise. The platform's app writes them, and the members program says how they end.
CREATE TABLE calls (
    number      BIGINT PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    member      BIGINT NOT NULL,
    -- The chain, not one of its indexes.
    chain       TEXT NOT NULL,
    mint        {{bytes}} NOT NULL,
    text        TEXT NOT NULL,
    -- A JSON list of the tokens that the text's tickers mean.
    token_refs  TEXT NOT NULL,
    called_at   BIGINT NOT NULL,
    -- The highest price of the last blocks when the call came, the price by the newest block, and that block.
    price_usd   DOUBLE PRECISION NOT NULL,
    close_usd   DOUBLE PRECISION NOT NULL,
    block       BIGINT NOT NULL,
    block_time  BIGINT NOT NULL,
    -- The app's time of what it wrote last, in unix microseconds.
    updated_at  BIGINT NOT NULL,
    deleted_at  BIGINT NOT NULL,
    -- How it stands: open, win or loss, since when, and the highest price that was held; 0 while none was.
    outcome     TEXT NOT NULL,
    decided_at  BIGINT NOT NULL,
    peak_usd    DOUBLE PRECISION NOT NULL,
    -- The block by which the peak had been held; it is taken back if that block is.
    peak_block  BIGINT NOT NULL,
    peak_hash   {{bytes}},
    -- The highest price that was held by a final block, and the block from which on the rest is looked at again.
    sure_usd    DOUBLE PRECISION NOT NULL,
    sure_block  BIGINT NOT NULL,
    sure_time   BIGINT NOT NULL,
    -- Nothing changes how it stands any more.
    settled     BOOLEAN NOT NULL,
    change      BIGINT NOT NULL UNIQUE
) {{clustered}};
CREATE INDEX calls_by_member ON calls (member, called_at);
CREATE INDEX calls_to_judge ON calls (number) WHERE settled = FALSE;

ALTER TABLE stream ADD COLUMN call BIGINT NOT NULL DEFAULT 0;

-- Since when a pool holds as much as tracking.countedLiquidityUSD says, a curve too; 0 while it holds less, and until something happens in it.
ALTER TABLE pools ADD COLUMN counts_since BIGINT NOT NULL DEFAULT 0;
