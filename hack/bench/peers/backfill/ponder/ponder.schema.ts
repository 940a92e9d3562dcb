import { onchainTable, primaryKey } from "ponder";

export const token = onchainTable("token", (t) => ({
  address: t.hex().primaryKey(),
  name: t.text(),
  symbol: t.text(),
  decimals: t.integer(),
}));

export const pool = onchainTable("pool", (t) => ({
  address: t.hex().primaryKey(),
  base: t.hex().notNull(),
  quote: t.hex().notNull(),
  baseIs0: t.boolean().notNull(),
  /** Raw price of one raw unit of token0 in token1, times this, is the price of one base token in quote tokens. */
  scale: t.doublePrecision().notNull(),
  reserve0: t.bigint().notNull(),
  reserve1: t.bigint().notNull(),
}));

export const balance = onchainTable(
  "balance",
  (t) => ({
    token: t.hex().notNull(),
    account: t.hex().notNull(),
    amount: t.bigint().notNull(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.token, table.account] }) }),
);

export const trade = onchainTable(
  "trade",
  (t) => ({
    block: t.integer().notNull(),
    logIndex: t.integer().notNull(),
    time: t.integer().notNull(),
    tx: t.hex().notNull(),
    pool: t.hex().notNull(),
    base: t.hex().notNull(),
    trader: t.hex().notNull(),
    sell: t.boolean().notNull(),
    baseAmount: t.bigint().notNull(),
    quoteAmount: t.bigint().notNull(),
    price: t.doublePrecision().notNull(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.block, table.logIndex] }) }),
);

export const candle = onchainTable(
  "candle",
  (t) => ({
    pool: t.hex().notNull(),
    openAt: t.integer().notNull(),
    open: t.doublePrecision().notNull(),
    high: t.doublePrecision().notNull(),
    low: t.doublePrecision().notNull(),
    close: t.doublePrecision().notNull(),
    volumeBase: t.bigint().notNull(),
    volumeQuote: t.bigint().notNull(),
    buys: t.integer().notNull(),
    sells: t.integer().notNull(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.pool, table.openAt] }) }),
);
