-- +goose Up
-- What members wrote: posts, replies, posts to the members in a token, comments on a token. The platform's app writes them.
CREATE TABLE posts (
    number      BIGINT PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    -- The author.
    member      BIGINT NOT NULL,
    kind        TEXT NOT NULL,
    -- The id of the post that a reply answers; empty in other posts.
    parent      TEXT NOT NULL,
    -- The token of a post to its members, or of a comment. The chain, not one of its indexes.
    chain       TEXT NOT NULL,
    mint        {{bytes}},
    -- The trade that the post is a note on: what the author bought, or sold, of one token in one transaction.
    trade_chain TEXT NOT NULL,
    trade_tx    {{bytes}},
    trade_mint  {{bytes}},
    text        TEXT NOT NULL,
    -- A JSON list of the tokens that the text's tickers mean.
    token_refs  TEXT NOT NULL,
    posted_at   BIGINT NOT NULL,
    -- The app's time of what it wrote last, in unix microseconds.
    updated_at  BIGINT NOT NULL,
    deleted_at  BIGINT NOT NULL,
    change      BIGINT NOT NULL UNIQUE
) {{clustered}};
CREATE INDEX posts_by_member ON posts (member);
CREATE INDEX posts_by_trade ON posts (trade_tx, member) WHERE trade_tx IS NOT NULL;
