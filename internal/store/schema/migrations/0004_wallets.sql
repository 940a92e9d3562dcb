-- +goose Up
-- What a trade did to its trader's own balance, where that isn't the pool's amount, and what the balance was before its transaction,
-- where every transfer of the token was booked in its own block. Amounts without leading noughts.
ALTER TABLE trades ADD COLUMN trader_amount {{bytes}};
ALTER TABLE trades ADD COLUMN trader_before {{bytes}};
ALTER TABLE tokens ADD COLUMN since_creation BOOLEAN NOT NULL DEFAULT FALSE;
