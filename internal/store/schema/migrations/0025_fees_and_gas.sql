-- +goose Up
-- What the chain shows of members' wallets' payments to the declared recipients of the platform's fee.
CREATE TABLE wallet_fees (
    chain       TEXT NOT NULL,
    wallet      {{bytes}} NOT NULL,
    block       BIGINT NOT NULL,
    -- The log that shows it.
    log_index   BIGINT NOT NULL,
    time        BIGINT NOT NULL,
    tx          {{bytes}} NOT NULL,
    recipient   {{bytes}} NOT NULL,
    -- 20 zero bytes for the chain's own coin.
    asset       {{bytes}} NOT NULL,
    amount      {{bytes}} NOT NULL,
    -- The value in 1e-9 USD, of a quote asset; NULL is unknown.
    nano_usd    BIGINT,
    -- The amount is the declared share of what was traded.
    as_declared BOOLEAN NOT NULL,
    PRIMARY KEY (chain, wallet, block, log_index)
) {{clustered}};

-- An entry's part of the fee, in 1e-9 USD as an amount without leading noughts, and of the transaction's gas; NULL is unknown gas and no fee.
ALTER TABLE wallet_entries ADD COLUMN fee {{bytes}};
ALTER TABLE wallet_entries ADD COLUMN gas_nano_usd BIGINT;
-- The basis is of trades from before the wallet was watched, and what the wallet had then isn't known yet.
ALTER TABLE wallet_positions ADD COLUMN is_copied BOOLEAN NOT NULL DEFAULT FALSE;
