-- +goose Up
-- Members are written by the platform's app, and no reorg undoes them. Of a member who left a row stays, so that no older record brings them back.
CREATE TABLE members (
    number     BIGINT PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    handle     TEXT NOT NULL,
    -- The handle in lower case; null once a member who left is erased.
    handle_key TEXT UNIQUE,
    avatar_url TEXT NOT NULL,
    joined_at  BIGINT NOT NULL,
    -- The app's time of what it wrote last, in unix microseconds.
    updated_at BIGINT NOT NULL,
    left_at    BIGINT NOT NULL,
    -- The app's time of the record by which they left last: no older one gives them a wallet again.
    wallets_after BIGINT NOT NULL,
    change     BIGINT NOT NULL UNIQUE
) {{clustered}};
CREATE INDEX members_to_erase ON members (left_at) WHERE left_at > 0 AND handle_key IS NOT NULL;

-- chain is that of a contract wallet, else empty.
CREATE TABLE member_wallets (
    family     TEXT NOT NULL,
    address    {{bytes}} NOT NULL,
    chain      TEXT NOT NULL,
    member     BIGINT NOT NULL,
    is_public  BOOLEAN NOT NULL,
    since      BIGINT NOT NULL,
    proof_text TEXT NOT NULL,
    signature  TEXT NOT NULL,
    checked_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    removed_at BIGINT NOT NULL,
    -- When it was taken away last: no proof from before counts again.
    taken_away_at BIGINT NOT NULL,
    change     BIGINT NOT NULL UNIQUE,
    PRIMARY KEY (family, address, chain)
) {{clustered}};
CREATE INDEX member_wallets_by_member ON member_wallets (member);
CREATE INDEX member_wallets_to_clean ON member_wallets (removed_at) WHERE removed_at > 0 AND checked_at > 0;

CREATE TABLE wallet_challenges (
    text       TEXT PRIMARY KEY,
    expires_at BIGINT NOT NULL
) {{clustered}};
CREATE INDEX wallet_challenges_by_end ON wallet_challenges (expires_at);

-- Answers to requests with an Idempotency-Key.
CREATE TABLE kept_answers (
    idempotency_key TEXT PRIMARY KEY,
    request         {{bytes}} NOT NULL,
    status          INTEGER NOT NULL,
    media           TEXT NOT NULL,
    body            {{bytes}} NOT NULL,
    kept_until      BIGINT NOT NULL
) {{clustered}};
CREATE INDEX kept_answers_by_end ON kept_answers (kept_until);

-- How many members are present: one row, written by the holder of the lease.
CREATE TABLE presence (
    program    TEXT PRIMARY KEY,
    online     BIGINT NOT NULL,
    counted_ms BIGINT NOT NULL
) {{clustered}};
-- Who was present in a minute, for a restart.
CREATE TABLE presence_minutes (
    minute BIGINT NOT NULL,
    member BIGINT NOT NULL,
    PRIMARY KEY (minute, member)
) {{clustered}};

CREATE TABLE program_leases (
    program    TEXT PRIMARY KEY,
    holder     TEXT NOT NULL,
    epoch      BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL
) {{clustered}};

-- Handles that were given up, by a keyed hash, with who had them.
CREATE TABLE released_handles (
    hash   {{bytes}} PRIMARY KEY,
    member BIGINT NOT NULL,
    until  BIGINT NOT NULL
) {{clustered}};
CREATE INDEX released_handles_by_member ON released_handles (member);
CREATE TABLE registry_secret (
    secret {{bytes}} PRIMARY KEY
) {{clustered}};
