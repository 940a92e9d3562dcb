-- +goose Up
-- Whom the transactions of a chain's newest blocks paid in the chain's own coin, and which accounts sent their first one. A block that was read with its transactions has a row, even if they paid
-- nobody; a block without a row was read without. The rows of a day are kept, or of fewer blocks where these have very many payments.
CREATE TABLE payments (
    chain TEXT NOT NULL,
    block BIGINT NOT NULL,
    hash  {{bytes}} NOT NULL,
    time  BIGINT NOT NULL,
    -- 56 bytes for each payment: the payer's 20, the payee's 20, and the amount in 16, the highest first.
    body  {{bytes}} NOT NULL,
    -- 20 bytes for each account that sent its first transaction.
    firsts {{bytes}} NOT NULL,
    PRIMARY KEY (chain, block)
);

-- Where the trader's coins came from, of trades of launched tokens: 1 is from the funder, at a time, 2 is from
-- nobody knows where, and NULL is unknown. Age is 1 if the trader sent its first transaction within the window,
-- at first_at, and 2 if it had sent one before.
ALTER TABLE trades ADD COLUMN funding SMALLINT;
ALTER TABLE trades ADD COLUMN funder {{bytes}};
ALTER TABLE trades ADD COLUMN funded_at BIGINT;
ALTER TABLE trades ADD COLUMN age SMALLINT;
ALTER TABLE trades ADD COLUMN first_at BIGINT;
ALTER TABLE waiting_trades ADD COLUMN funding SMALLINT;
ALTER TABLE waiting_trades ADD COLUMN funder {{bytes}};
ALTER TABLE waiting_trades ADD COLUMN funded_at BIGINT;
ALTER TABLE waiting_trades ADD COLUMN age SMALLINT;
ALTER TABLE waiting_trades ADD COLUMN first_at BIGINT;
