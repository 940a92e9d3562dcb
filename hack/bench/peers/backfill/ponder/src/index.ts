import { type Context, type Event, ponder } from "ponder:registry";
import { balance, candle, pool, token, trade } from "ponder:schema";
import { zeroAddress } from "viem";

import { erc20 } from "../abi";
import { chain } from "../chain";

type Address = `0x${string}`;

ponder.on("Token:Transfer", async ({ event, context }) => {
  const { from, to, value } = event.args;
  await know(context, event.log.address);
  await move(context, event.log.address, from, to, value);
});

ponder.on("Wrapped:Deposit", async ({ event, context }) => {
  await know(context, event.log.address);
  await move(context, event.log.address, zeroAddress, event.args.dst, event.args.wad);
});

ponder.on("Wrapped:Withdrawal", async ({ event, context }) => {
  await know(context, event.log.address);
  await move(context, event.log.address, event.args.src, zeroAddress, event.args.wad);
});

ponder.on("V2Factory:PairCreated", async ({ event, context }) => {
  await addPool(context, event.args.pair, event.args.token0, event.args.token1);
});

ponder.on("V3Factory:PoolCreated", async ({ event, context }) => {
  await addPool(context, event.args.pool, event.args.token0, event.args.token1);
});

ponder.on("V2Pair:Sync", async ({ event, context }) => {
  const known = await context.db.find(pool, { address: event.log.address });
  if (known === null) return;
  const { reserve0, reserve1 } = event.args;
  await context.db.update(pool, { address: event.log.address }).set({ reserve0, reserve1 });
});

ponder.on("V2Pair:Swap", async ({ event, context }) => {
  const known = await context.db.find(pool, { address: event.log.address });
  if (known === null) return;
  const { amount0In, amount1In, amount0Out, amount1Out, to } = event.args;
  const price = Number(known.reserve1) / Number(known.reserve0);
  await book(event, context, known, to, amount0In - amount0Out, amount1In - amount1Out, price);
});

ponder.on("V3Pool:Swap", async ({ event, context }) => {
  const known = await context.db.find(pool, { address: event.log.address });
  if (known === null) return;
  const { amount0, amount1, recipient, sqrtPriceX96 } = event.args;
  await book(event, context, known, recipient, amount0, amount1, (Number(sqrtPriceX96) / 2 ** 96) ** 2);
});

/** know asks a token about itself on its first mention. */
async function know(context: Context, address: Address) {
  const known = await context.db.find(token, { address });
  if (known !== null) return known;
  // The node keeps no old states, and what these answer doesn't change.
  const ask = async <name extends "name" | "symbol" | "decimals">(functionName: name) =>
    context.client
      .readContract({ abi: erc20, address, functionName, cache: "immutable", retryEmptyResponse: false })
      .catch(() => null);
  const [name, symbol, decimals] = await Promise.all([ask("name"), ask("symbol"), ask("decimals")]);
  const clean = (text: unknown) => (typeof text === "string" ? text.replaceAll("\0", "") : null);
  return context.db
    .insert(token)
    .values({ address, name: clean(name), symbol: clean(symbol), decimals: decimals as number | null });
}

async function move(context: Context, address: Address, from: Address, to: Address, value: bigint) {
  if (from !== zeroAddress) {
    await context.db
      .insert(balance)
      .values({ token: address, account: from, amount: -value })
      .onConflictDoUpdate((row) => ({ amount: row.amount - value }));
  }
  if (to !== zeroAddress) {
    await context.db
      .insert(balance)
      .values({ token: address, account: to, amount: value })
      .onConflictDoUpdate((row) => ({ amount: row.amount + value }));
  }
}

/** addPool follows pools with a quote asset on one side; with two, the preferred one is the quote. */
async function addPool(context: Context, address: Address, token0: Address, token1: Address) {
  const rank = (a: Address) => chain.quotes.indexOf(a.toLowerCase() as Address);
  const [rank0, rank1] = [rank(token0), rank(token1)];
  if (rank0 < 0 && rank1 < 0) return;
  const baseIs0 = rank0 < 0 || (rank1 >= 0 && rank1 < rank0);
  const [known0, known1] = [await know(context, token0), await know(context, token1)];
  await context.db.insert(pool).values({
    address,
    base: baseIs0 ? token0 : token1,
    quote: baseIs0 ? token1 : token0,
    baseIs0,
    scale: 10 ** ((known0.decimals ?? 18) - (known1.decimals ?? 18)),
    reserve0: 0n,
    reserve1: 0n,
  });
}

/** book adds a swap's trade and its minute. Amounts are the pool's: positive went in. */
async function book(
  event: Event<"V2Pair:Swap"> | Event<"V3Pool:Swap">,
  context: Context,
  of: typeof pool.$inferSelect,
  trader: Address,
  amount0: bigint,
  amount1: bigint,
  rawPrice: number,
) {
  if (amount0 === 0n || amount1 === 0n || amount0 > 0n === amount1 > 0n) return;
  const [base, quote] = of.baseIs0 ? [amount0, amount1] : [amount1, amount0];
  const sell = base > 0n;
  const baseAmount = sell ? base : -base;
  const quoteAmount = sell ? -quote : quote;
  const price = of.baseIs0 ? rawPrice * of.scale : 1 / (rawPrice * of.scale);
  const time = Number(event.block.timestamp);
  await context.db.insert(trade).values({
    block: Number(event.block.number),
    logIndex: event.log.logIndex,
    time,
    tx: event.transaction.hash,
    pool: of.address,
    base: of.base,
    trader,
    sell,
    baseAmount,
    quoteAmount,
    price,
  });
  await context.db
    .insert(candle)
    .values({
      pool: of.address,
      openAt: time - (time % 60),
      open: price,
      high: price,
      low: price,
      close: price,
      volumeBase: baseAmount,
      volumeQuote: quoteAmount,
      buys: sell ? 0 : 1,
      sells: sell ? 1 : 0,
    })
    .onConflictDoUpdate((row) => ({
      high: Math.max(row.high, price),
      low: Math.min(row.low, price),
      close: price,
      volumeBase: row.volumeBase + baseAmount,
      volumeQuote: row.volumeQuote + quoteAmount,
      buys: row.buys + (sell ? 0 : 1),
      sells: row.sells + (sell ? 1 : 0),
    }));
}
