-- +goose Up
-- The wallets of members whose entries are kept, each from a block on.
CREATE TABLE watched_wallets (
    chain  TEXT NOT NULL,
    wallet {{bytes}} NOT NULL,
    member BIGINT NOT NULL,
    -- The number of the registry's change.
    change BIGINT NOT NULL,
    since  BIGINT NOT NULL,
    PRIMARY KEY (chain, wallet)
) {{clustered}};

-- What happened to their positions. Sums are of 1e-9 USD, and like amounts without leading noughts; NULL is nought.
CREATE TABLE wallet_entries (
    chain      TEXT NOT NULL,
    wallet     {{bytes}} NOT NULL,
    block      BIGINT NOT NULL,
    seq        BIGINT NOT NULL,
    time       BIGINT NOT NULL,
    tx         {{bytes}} NOT NULL,
    token      {{bytes}} NOT NULL,
    kind       TEXT NOT NULL,
    pool       {{bytes}},
    log_index  BIGINT NOT NULL,
    -- The member's other wallet to which the basis went.
    other      {{bytes}},
    amount     {{bytes}} NOT NULL,
    -- The balance before the transaction; NULL is unknown.
    had_before {{bytes}},
    nano_usd   BIGINT,
    counts     BOOLEAN NOT NULL,
    proceeds   {{bytes}},
    cost       {{bytes}},
    moved_out  {{bytes}},
    PRIMARY KEY (chain, wallet, block, seq)
) {{clustered}};
CREATE INDEX wallet_entries_time ON wallet_entries (chain, time);

CREATE TABLE wallet_positions (
    chain    TEXT NOT NULL,
    wallet   {{bytes}} NOT NULL,
    token    {{bytes}} NOT NULL,
    quantity {{bytes}} NOT NULL,
    cost     {{bytes}},
    -- NULL is unknown.
    balance  {{bytes}},
    is_in    BOOLEAN NOT NULL,
    PRIMARY KEY (chain, wallet, token)
) {{clustered}};
CREATE INDEX wallet_positions_in ON wallet_positions (token, chain) WHERE is_in;

-- What the entries of an hour came to for the member who had the wallet.
CREATE TABLE wallet_hours (
    chain            TEXT NOT NULL,
    open_at          BIGINT NOT NULL,
    wallet           {{bytes}} NOT NULL,
    member           BIGINT NOT NULL,
    cost             {{bytes}},
    proceeds         {{bytes}},
    excluded         {{bytes}},
    fees             {{bytes}},
    gas              {{bytes}},
    volume           {{bytes}},
    moved_out        {{bytes}},
    without_gas      BIGINT NOT NULL,
    trades           BIGINT NOT NULL,
    unvalued         BIGINT NOT NULL,
    sales            BIGINT NOT NULL,
    wins             BIGINT NOT NULL,
    losses           BIGINT NOT NULL,
    ineligible_sells BIGINT NOT NULL,
    -- The sale with the highest gain; NULL where there was none.
    best_token       {{bytes}},
    best_at          BIGINT NOT NULL,
    best_gain        {{bytes}},
    PRIMARY KEY (chain, open_at, wallet, member)
) {{clustered}};
CREATE INDEX wallet_hours_wallet ON wallet_hours (chain, wallet);
