-- +goose Up
CREATE TABLE schema_reader (
    -- The oldest schema version a binary must know to read this database.
    oldest INTEGER NOT NULL
);
INSERT INTO schema_reader (oldest) VALUES (1);

CREATE TABLE chains (
    id               TEXT PRIMARY KEY,
    number           BIGINT NOT NULL DEFAULT 0,
    hash             {{bytes}},
    parent           {{bytes}},
    block_time       BIGINT NOT NULL DEFAULT 0,
    start_block      BIGINT NOT NULL DEFAULT 0,
    commit_no        BIGINT NOT NULL DEFAULT 0,
    rewinds          BIGINT NOT NULL DEFAULT 0,
    head_number      BIGINT NOT NULL DEFAULT 0,
    head_time        BIGINT NOT NULL DEFAULT 0,
    safe_number      BIGINT NOT NULL DEFAULT 0,
    final_number     BIGINT NOT NULL DEFAULT 0,
    final_time       BIGINT NOT NULL DEFAULT 0,
    state            TEXT NOT NULL DEFAULT 'starting',
    state_reason     TEXT NOT NULL DEFAULT '',
    lease_epoch      BIGINT NOT NULL DEFAULT 0,
    lease_holder     TEXT NOT NULL DEFAULT '',
    lease_expires_ms BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE blocks (
    chain  TEXT NOT NULL,
    number BIGINT NOT NULL,
    hash   {{bytes}} NOT NULL,
    parent {{bytes}} NOT NULL,
    time   BIGINT NOT NULL,
    PRIMARY KEY (chain, number)
) {{clustered}};

CREATE TABLE undo (
    chain   TEXT NOT NULL,
    block   BIGINT NOT NULL,
    seq     BIGINT NOT NULL,
    tbl     TEXT NOT NULL,
    existed BOOLEAN NOT NULL,
    image   {{bytes}} NOT NULL,
    PRIMARY KEY (chain, block, seq)
) {{clustered}};

CREATE TABLE facts (
    chain TEXT NOT NULL,
    block BIGINT NOT NULL,
    kind  TEXT NOT NULL,
    ref   {{bytes}} NOT NULL,
    hash  {{bytes}} NOT NULL,
    body  {{bytes}} NOT NULL,
    PRIMARY KEY (chain, block, kind, ref)
) {{clustered}};

CREATE TABLE tokens (
    chain           TEXT NOT NULL,
    mint            {{bytes}} NOT NULL,
    name            TEXT NOT NULL,
    symbol          TEXT NOT NULL,
    has_decimals    BOOLEAN NOT NULL,
    decimals        INTEGER NOT NULL,
    has_supply      BOOLEAN NOT NULL,
    supply          {{bytes}} NOT NULL,
    first_block     BIGINT NOT NULL,
    first_seen_at   BIGINT NOT NULL,
    pool            {{bytes}},
    candidate       {{bytes}},
    candidate_since BIGINT NOT NULL,
    holders_status  TEXT NOT NULL,
    holders_reason  TEXT NOT NULL,
    holders         BIGINT NOT NULL,
    holders_strikes INTEGER NOT NULL,
    commit_no       BIGINT NOT NULL,
    PRIMARY KEY (chain, mint)
) {{clustered}};
CREATE INDEX tokens_mint ON tokens (mint);
CREATE INDEX tokens_commit ON tokens (chain, commit_no);
CREATE INDEX tokens_indexing ON tokens (chain) WHERE holders_status = 'indexing';
CREATE INDEX tokens_pending ON tokens (chain) WHERE candidate IS NOT NULL;

CREATE TABLE pools (
    chain            TEXT NOT NULL,
    id               {{bytes}} NOT NULL,
    protocol         TEXT NOT NULL,
    factory          {{bytes}} NOT NULL,
    token0           {{bytes}} NOT NULL,
    token1           {{bytes}} NOT NULL,
    fee_pips         BIGINT NOT NULL,
    tick_spacing     INTEGER NOT NULL,
    hooks            {{bytes}},
    stable           BOOLEAN NOT NULL,
    created_block    BIGINT NOT NULL,
    created_at       BIGINT NOT NULL,
    base             {{bytes}} NOT NULL,
    quote            {{bytes}} NOT NULL,
    base_is0         BOOLEAN NOT NULL,
    untrusted        TEXT NOT NULL,
    reserve0         {{bytes}} NOT NULL,
    reserve1         {{bytes}} NOT NULL,
    sqrt_price_x96   {{bytes}} NOT NULL,
    liquidity        {{bytes}} NOT NULL,
    tick             INTEGER NOT NULL,
    price            DOUBLE PRECISION NOT NULL,
    depth            DOUBLE PRECISION NOT NULL,
    locked           DOUBLE PRECISION NOT NULL,
    last_trade_at    BIGINT NOT NULL,
    day_volume_usd   {{bytes}} NOT NULL,
    day_buys         BIGINT NOT NULL,
    day_sells        BIGINT NOT NULL,
    day_reference    DOUBLE PRECISION NOT NULL,
    commit_no        BIGINT NOT NULL,
    PRIMARY KEY (chain, id)
) {{clustered}};
CREATE INDEX pools_base ON pools (chain, base);
CREATE INDEX pools_commit ON pools (chain, commit_no);

CREATE TABLE pool_ticks (
    chain TEXT NOT NULL,
    pool  {{bytes}} NOT NULL,
    ticks {{bytes}} NOT NULL,
    PRIMARY KEY (chain, pool)
) {{clustered}};

CREATE TABLE quote_prices (
    chain     TEXT NOT NULL,
    asset     {{bytes}} NOT NULL,
    usd       DOUBLE PRECISION NOT NULL,
    pegged    BOOLEAN NOT NULL,
    commit_no BIGINT NOT NULL,
    PRIMARY KEY (chain, asset)
) {{clustered}};

CREATE TABLE trades (
    chain        TEXT NOT NULL,
    block        BIGINT NOT NULL,
    log_index    BIGINT NOT NULL,
    time         BIGINT NOT NULL,
    tx           {{bytes}} NOT NULL,
    pool         {{bytes}} NOT NULL,
    base         {{bytes}} NOT NULL,
    trader       {{bytes}} NOT NULL,
    sell         BOOLEAN NOT NULL,
    base_amount  {{bytes}} NOT NULL,
    quote_amount {{bytes}} NOT NULL,
    nano_usd     BIGINT,
    close_usd    DOUBLE PRECISION NOT NULL,
    close_native DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (chain, block, log_index)
) {{partitioned}};
CREATE INDEX trades_pool ON trades (chain, pool, time);

CREATE TABLE candles (
    chain        TEXT NOT NULL,
    pool         {{bytes}} NOT NULL,
    interval_s   INTEGER NOT NULL,
    open_at      BIGINT NOT NULL,
    open_usd     DOUBLE PRECISION NOT NULL,
    high_usd     DOUBLE PRECISION NOT NULL,
    low_usd      DOUBLE PRECISION NOT NULL,
    close_usd    DOUBLE PRECISION NOT NULL,
    open_native  DOUBLE PRECISION NOT NULL,
    high_native  DOUBLE PRECISION NOT NULL,
    low_native   DOUBLE PRECISION NOT NULL,
    close_native DOUBLE PRECISION NOT NULL,
    volume_usd   {{bytes}} NOT NULL,
    volume_quote {{bytes}} NOT NULL,
    volume_base  {{bytes}} NOT NULL,
    buys         BIGINT NOT NULL,
    sells        BIGINT NOT NULL,
    last_block   BIGINT NOT NULL,
    PRIMARY KEY (chain, pool, interval_s, open_at)
) {{partitioned}};
CREATE INDEX candles_minute ON candles (chain, open_at) WHERE interval_s = 60;

CREATE TABLE balances (
    chain    TEXT NOT NULL,
    token    {{bytes}} NOT NULL,
    account  {{bytes}} NOT NULL,
    amount   {{bytes}} NOT NULL,
    excluded BOOLEAN NOT NULL,
    PRIMARY KEY (chain, token, account)
) {{partitioned}};

CREATE TABLE holder_queue (
    chain      TEXT NOT NULL,
    token      {{bytes}} NOT NULL,
    block      BIGINT NOT NULL,
    seq        BIGINT NOT NULL,
    sender     {{bytes}} NOT NULL,
    recipient  {{bytes}} NOT NULL,
    amount     {{bytes}} NOT NULL,
    PRIMARY KEY (chain, token, block, seq)
) {{clustered}};

CREATE TABLE holder_jobs (
    chain       TEXT NOT NULL,
    token       {{bytes}} NOT NULL,
    final_block BIGINT NOT NULL,
    next_block  BIGINT NOT NULL,
    broken      BOOLEAN NOT NULL,
    PRIMARY KEY (chain, token)
) {{clustered}};

CREATE TABLE holder_staging (
    chain   TEXT NOT NULL,
    token   {{bytes}} NOT NULL,
    account {{bytes}} NOT NULL,
    amount  {{bytes}} NOT NULL,
    PRIMARY KEY (chain, token, account)
) {{clustered}};

CREATE TABLE sequences (
    stream TEXT PRIMARY KEY,
    last   BIGINT NOT NULL
);
