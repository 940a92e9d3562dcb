-- +goose Up
CREATE TABLE launches (
    chain         TEXT NOT NULL,
    mint          {{bytes}} NOT NULL,
    venue         TEXT NOT NULL,
    creator       {{bytes}},
    block         BIGINT NOT NULL,
    log_index     BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    tx            {{bytes}} NOT NULL,
    curve         {{bytes}},
    pricing       TEXT NOT NULL,
    basis         TEXT NOT NULL,
    fills_up      BOOLEAN NOT NULL,
    quote         {{bytes}},
    sale_base     {{bytes}} NOT NULL,
    target_quote  {{bytes}} NOT NULL,
    fee_bps       BIGINT NOT NULL,
    virtual_base  {{bytes}} NOT NULL,
    virtual_quote {{bytes}} NOT NULL,
    real_base     {{bytes}} NOT NULL,
    real_quote    {{bytes}} NOT NULL,
    price         {{bytes}} NOT NULL,
    traded        BOOLEAN NOT NULL,
    progress      DOUBLE PRECISION NOT NULL,
    has_progress  BOOLEAN NOT NULL,
    state         TEXT NOT NULL,
    completed_at  BIGINT NOT NULL,
    graduated_at  BIGINT NOT NULL,
    graduated_tx  {{bytes}},
    pool          {{bytes}},
    commit_no     BIGINT NOT NULL,
    -- Not derived: whether metadata was saved, and when the last trust report was made. No commit names them; they are
    -- NULL in a new row, and so again in one that a reorg took away and the chain brought back. Nothing else finds the
    -- few launches that wait for either among all those that don't.
    has_metadata  BOOLEAN,
    checked_at    BIGINT,
    name          TEXT NOT NULL,
    symbol        TEXT NOT NULL,
    -- As long as the log has it: last, so that the rest is read without it.
    metadata      TEXT NOT NULL,
    image         TEXT NOT NULL,
    PRIMARY KEY (chain, mint)
) {{clustered}};
-- A check of what was traded needs no more of a launch than this.
CREATE INDEX launches_mint ON launches (mint, chain, block, log_index, checked_at);
CREATE INDEX launches_commit ON launches (chain, commit_no);
CREATE INDEX launches_order ON launches (chain, block, log_index);
CREATE INDEX launches_waiting ON launches (chain, block, log_index) WHERE has_metadata IS NULL;
-- A creator may have very many; the state spares a look at each.
CREATE INDEX launches_creator ON launches (chain, creator, state);

CREATE TABLE token_metadata (
    chain       TEXT NOT NULL,
    mint        {{bytes}} NOT NULL,
    image_url   TEXT NOT NULL,
    website     TEXT NOT NULL,
    x           TEXT NOT NULL,
    telegram    TEXT NOT NULL,
    description TEXT NOT NULL,
    status      TEXT NOT NULL,
    reason      TEXT NOT NULL,
    attempts    INTEGER NOT NULL,
    next_at     BIGINT NOT NULL,
    fetched_at  BIGINT NOT NULL,
    commit_no   BIGINT NOT NULL,
    image       {{bytes}},
    PRIMARY KEY (chain, mint)
) {{clustered}};
CREATE INDEX token_metadata_commit ON token_metadata (chain, commit_no);
CREATE INDEX token_metadata_next ON token_metadata (chain, next_at) WHERE next_at > 0;

CREATE TABLE trust_reports (
    chain      TEXT NOT NULL,
    mint       {{bytes}} NOT NULL,
    checked_at BIGINT NOT NULL,
    critical   BOOLEAN NOT NULL,
    verdict    TEXT NOT NULL,
    commit_no  BIGINT NOT NULL,
    report     {{bytes}} NOT NULL,
    PRIMARY KEY (chain, mint)
) {{clustered}};
CREATE INDEX trust_reports_commit ON trust_reports (chain, commit_no);

-- What was traded lately is little; what was ever launched is much.
CREATE INDEX pools_traded ON pools (chain, last_trade_at, base);

-- A token's oldest fact, without a walk over every block.
CREATE INDEX facts_token ON facts (ref, block) WHERE kind = 'token';
