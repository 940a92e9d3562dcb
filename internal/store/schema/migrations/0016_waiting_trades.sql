-- +goose Up
-- Trades of pools whose liquidity isn't known yet, valued as those of trades are. They go there or nowhere within an hour of the chain's time. A
-- binary of before leaves them here, and can't take back a block that changed them.
CREATE TABLE waiting_trades (
    chain         TEXT NOT NULL,
    block         BIGINT NOT NULL,
    log_index     BIGINT NOT NULL,
    time          BIGINT NOT NULL,
    tx            {{bytes}} NOT NULL,
    pool          {{bytes}} NOT NULL,
    base          {{bytes}} NOT NULL,
    trader        {{bytes}} NOT NULL,
    sell          BOOLEAN NOT NULL,
    base_amount   {{bytes}} NOT NULL,
    quote_amount  {{bytes}} NOT NULL,
    nano_usd      BIGINT,
    close_usd     DOUBLE PRECISION NOT NULL,
    close_native  DOUBLE PRECISION NOT NULL,
    trader_amount {{bytes}},
    trader_before {{bytes}},
    PRIMARY KEY (chain, block, log_index)
) {{clustered}};
