-- +goose Up
-- Reading, from a chain's nodes, what members' wallets did before they were watched.
CREATE TABLE wallet_pasts (
    chain        TEXT NOT NULL,
    wallet       {{bytes}} NOT NULL,
    -- The change of the registry by which the wallet is watched.
    change       BIGINT NOT NULL,
    -- The unix second from which on anything of the wallet is wanted.
    since        BIGINT NOT NULL,
    -- The first block that is looked through, the first that wasn't yet, and the first that isn't to be: that from which on the wallet is watched.
    first_block  BIGINT NOT NULL,
    next_block   BIGINT NOT NULL,
    before_block BIGINT NOT NULL,
    -- The blocks that touch the wallet, eight bytes each.
    found        {{bytes}} NOT NULL,
    -- How many of them one endpoint of two named alone.
    alone        BIGINT NOT NULL,
    -- The fact that came of it, as facts have it; NULL while there is none.
    body         {{bytes}},
    PRIMARY KEY (chain, wallet)
) {{clustered}};

-- The block whose commit took in what the wallet did before it was watched; 0 while none has.
ALTER TABLE watched_wallets ADD COLUMN past_in BIGINT NOT NULL DEFAULT 0;
