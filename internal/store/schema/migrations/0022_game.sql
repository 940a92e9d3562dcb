-- +goose Up
-- The member for whom a trade counts in the game; 0 is none. Trades from before count for nobody.
ALTER TABLE wallet_entries ADD COLUMN player BIGINT NOT NULL DEFAULT 0;
-- Of a retraction: the time of the item that is taken back.
ALTER TABLE stream ADD COLUMN item_time BIGINT NOT NULL DEFAULT 0;

-- What the game has taken in: one row.
CREATE TABLE game_state (
    program     TEXT PRIMARY KEY,
    -- The last number of the stream, and of the calls' changes.
    stream      BIGINT NOT NULL,
    call_change BIGINT NOT NULL,
    -- A JSON map: up to which time of each chain.
    chains      TEXT NOT NULL,
    -- The last week, counted from 1970 on, whose season is closed.
    season      BIGINT NOT NULL,
    -- The rules in JSON, and whether others are being applied to what was counted.
    rules       TEXT NOT NULL,
    is_applying BOOLEAN NOT NULL,
    -- Counts the writes of the row: who writes it names the one before.
    revision    BIGINT NOT NULL
) {{clustered}};

-- What a member did on a day, which is counted from 1970-01-01 on, and what it is worth.
CREATE TABLE game_days (
    member BIGINT NOT NULL,
    day    BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    chains BIGINT NOT NULL,
    wins   BIGINT NOT NULL,
    xp     BIGINT NOT NULL,
    PRIMARY KEY (member, day)
) {{clustered}};
CREATE INDEX game_days_by_day ON game_days (day);

-- What members have come to.
CREATE TABLE game_members (
    member     BIGINT PRIMARY KEY,
    xp         BIGINT NOT NULL,
    -- The XP of a week, counted from 1970 on.
    week       BIGINT NOT NULL,
    week_xp    BIGINT NOT NULL,
    -- A JSON list.
    badges     TEXT NOT NULL,
    changed_at BIGINT NOT NULL,
    change     BIGINT NOT NULL UNIQUE
) {{clustered}};

-- How the seasons ended. A member who left has no place any more.
CREATE TABLE season_places (
    week   BIGINT NOT NULL,
    member BIGINT NOT NULL,
    place  BIGINT NOT NULL,
    score  BIGINT NOT NULL,
    PRIMARY KEY (week, member)
) {{clustered}};
CREATE INDEX season_places_by_member ON season_places (member);
