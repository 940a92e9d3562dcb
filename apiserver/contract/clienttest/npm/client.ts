// What the author of a client writes over the types that openapi-typescript makes of the document. It is compiled and
// never run. It takes every member of every 200 answer as what it is, so that one that is dropped, changes its type or is
// no longer sure to be there breaks the compile, as it would break the clients of others.
import type { components, operations } from './api.js';

type Schemas = components['schemas'];
type Operation = keyof operations;
type Answer<Op extends Operation> = operations[Op]['responses'][200]['content']['application/json'];
type Query<Op extends Operation> = NonNullable<operations[Op]['parameters']['query']>;

/** A figure as it is shown: in words where it isn't known. */
type Figure = { known: true; value: number } | { known: false; why: string };

const reasons: Record<Schemas['UnknownReason'], string> = {
  indexing: 'not read yet',
  stale: 'too old',
  unavailable: 'not available',
  not_applicable: 'none',
};

/** Narrows the null of a figure. */
function figure(value: number | null, reason: Schemas['UnknownReason'] | undefined): Figure {
  return value === null ? { known: false, why: why(reason) } : { known: true, value };
}

/** `unknown_reasons` has the names of figures for keys, so that looking one up may find none. */
function why(reason: Schemas['UnknownReason'] | undefined): string {
  return reason === undefined ? 'no reason given' : reasons[reason];
}

/** Narrows the null of a text. */
function text(value: string | null): string {
  return value === null ? '' : value.toLowerCase();
}

/** What is sure to be there. */
const word = (value: string): string => value.toLowerCase();
const count = (value: number): string => value.toFixed(0);
const flag = (value: boolean): string => (value ? 'yes' : 'no');
const empty = (value: ''): string => value;
const words = (values: string[]): string => values.map(word).join(', ');
const time = (value: string): Date => new Date(word(value));
const timeOf = (value: string | null): Date | undefined => (value === null ? undefined : time(value));

const finalities: Record<Schemas['Finality'], number> = { latest: 0, safe: 1, final: 2 };

/** What most answers have. An answer without `stale` is a fresh one. */
function freshness(asOf: string, stale: boolean | undefined, blocks: Schemas['Blocks'] | undefined): unknown[] {
  return [
    time(asOf),
    flag(stale ?? false),
    Object.entries(blocks ?? {}).map(([chain, block]) => [chain, count(block.number), finalities[block.finality]]),
  ];
}

const bases: Record<Schemas['SupplyBasis'], string> = { circulating: 'in circulation', total: 'of all' };

function basis(value: Schemas['SupplyBasis'] | null): string {
  return value === null ? '' : bases[value];
}

function sources(of: Schemas['FigureSources']): string[] {
  return Object.entries(of).map(([name, source]) => `${name} from ${word(source)}`);
}

function marketToken(token: Schemas['MarketToken']): unknown[] {
  return [
    word(token.mint),
    word(token.chain),
    word(token.name),
    word(token.symbol),
    figure(token.price, token.unknown_reasons.price),
    figure(token.change_24h_pct, token.unknown_reasons.change_24h_pct),
    figure(token.liquidity, token.unknown_reasons.liquidity),
    figure(token.volume, token.unknown_reasons.volume),
    text(token.pair),
    figure(token.market_cap, token.unknown_reasons.market_cap),
    figure(token.fdv, token.unknown_reasons.fdv),
    basis(token.supply_basis),
    text(token.image_url),
    sources(token.figure_sources),
  ];
}

function marketLive(answer: Answer<'getMarketLive'>): unknown[] {
  return [
    freshness(answer.as_of, answer.stale, answer.blocks),
    count(answer.per_chain),
    words(answer.empty_chains),
    answer.tokens.map((token) => [marketToken(token), count(token.rank), count(token.chain_rank), traction(token.traction)]),
  ];
}

function traction(of: Schemas['Traction']): unknown[] {
  return [
    count(of.score),
    figure(of.parts.buyers, of.unknown_reasons.buyers),
    figure(of.parts.volume_usd, of.unknown_reasons.volume_usd),
    figure(of.parts.new_holders, of.unknown_reasons.new_holders),
    figure(of.parts.liquidity_usd, of.unknown_reasons.liquidity_usd),
    figure(of.parts.members, of.unknown_reasons.members),
    figure(of.parts.age_s, of.unknown_reasons.age_s),
    figure(of.parts.wash, of.unknown_reasons.wash),
    figure(of.parts.concentration, of.unknown_reasons.concentration),
  ];
}

const priceSources: Record<Schemas['PriceSource'], string> = { pool: 'pool', curve: 'curve', peg: 'peg' };

function tokenPrices(answer: Answer<'getTokenPrices'>): unknown[] {
  const prices: Record<string, Schemas['PriceView']> = answer.prices;
  return [
    freshness(answer.as_of, answer.stale, answer.blocks),
    Object.entries(prices).map(([mint, view]) => [mint, priceView(view)]),
    words(answer.missing),
  ];
}

function priceView(view: Schemas['PriceView']): unknown[] {
  return [
    word(view.name),
    word(view.symbol),
    figure(view.price, view.unknown_reasons.price),
    figure(view.liquidity, view.unknown_reasons.liquidity),
    figure(view.volume, view.unknown_reasons.volume),
    figure(view.market_cap, view.unknown_reasons.market_cap),
    basis(view.supply_basis),
    figure(view.change_24h_pct, view.unknown_reasons.change_24h_pct),
    word(view.chain),
    words(view.chain_candidates ?? []),
    text(view.pair),
    time(view.updated_at),
    figure(view.block, view.unknown_reasons.block),
    view.price_source === null ? '' : priceSources[view.price_source],
    flag(view.stale),
    sources(view.figure_sources),
  ];
}

/** One path, two answers: a list or a series. */
function majors(answer: Answer<'getMajors'>): unknown[] {
  if ('majors' in answer) {
    return [
      freshness(answer.as_of, answer.stale, answer.blocks),
      answer.majors.map((major) => [marketToken(major), word(major.asset), flag(major.wrapped), flag(major.stale ?? false)]),
    ];
  }
  return [series(answer), word(answer.asset)];
}

function chart(answer: Answer<'getChart'>): unknown[] {
  if ('candles' in answer) {
    return series(answer);
  }
  const status: 'ok' | 'no_data' = answer.s;
  const next: number | undefined = answer.nextTime;
  const columns: number[][] = [answer.t, answer.o, answer.h, answer.l, answer.c, answer.v];
  return [status, next === undefined ? '' : count(next), columns.map((column) => column.map(count))];
}

const ranges: Record<Schemas['CandleRange'], string> = {
  '1h': '1 hour', '6h': '6 hours', '24h': '1 day', '7d': '1 week', '30d': '1 month', '90d': '3 months', '1y': '1 year',
  all: 'all',
};

function tokenCandles(answer: Answer<'getTokenCandles'>): unknown[] {
  return [series(answer), ranges[answer.range]];
}

const currencies: Record<Schemas['Currency'], string> = { usd: '$', native: '' };

const widths: Record<Schemas['Timeframe'], number> = {
  '1s': 1, '15s': 15, '30s': 30, '1m': 60, '3m': 180, '5m': 300, '15m': 900, '30m': 1800, '1h': 3600, '2h': 7200, '4h': 14400,
  '6h': 21600, '12h': 43200, '1d': 86400, '1w': 604800,
};

function series(of: Schemas['CandleSeries']): unknown[] {
  return [
    word(of.mint),
    word(of.chain),
    words(of.chain_candidates ?? []),
    of.pair === null ? why(of.unknown_reasons.pair) : word(of.pair),
    word(of.symbol),
    currencies[of.currency],
    widths[of.tf] === of.interval_s,
    count(of.interval_s),
    count(of.to - of.from),
    of.candles.map(candle),
    flag(of.gaps_filled),
    freshness(of.as_of, of.stale, of.blocks),
    sources(of.figure_sources),
  ];
}

function candle(of: Schemas['Candle']): unknown[] {
  const numbers: number[] = [of.t, of.o, of.h, of.l, of.c, of.v, of.n];
  return [numbers.map(count), flag(of.fill), flag(of.final)];
}

function searchPairs(answer: Answer<'searchPairs'>): unknown[] {
  const version: '1.0.0' = answer.schemaVersion;
  return [version, answer.pairs.map(dexPair)];
}

/** In this one shape what isn't known is left out. */
function dexPair(pair: Schemas['DexPair']): unknown[] {
  const left = (value: number | undefined): string => (value === undefined ? '' : count(value));
  return [
    word(pair.chainId),
    word(pair.dexId),
    word(pair.url),
    word(pair.pairAddress),
    words(pair.labels ?? []),
    [pair.baseToken, pair.quoteToken].map((token) => [word(token.address), word(token.name), word(token.symbol)]),
    Number.parseFloat(pair.priceNative),
    pair.priceUsd === undefined ? '' : Number.parseFloat(pair.priceUsd),
    [pair.txns.m5, pair.txns.h1, pair.txns.h6, pair.txns.h24].map((txns) => count(txns.buys + txns.sells)),
    [pair.volume.m5, pair.volume.h1, pair.volume.h6, pair.volume.h24],
    [pair.priceChange.m5, pair.priceChange.h1, pair.priceChange.h6, pair.priceChange.h24].map(left),
    pair.liquidity === undefined ? '' : [count(pair.liquidity.usd), left(pair.liquidity.base), left(pair.liquidity.quote)],
    left(pair.fdv),
    left(pair.marketCap),
    pair.pairCreatedAt === undefined ? '' : new Date(pair.pairCreatedAt),
    word(pair.info?.imageUrl ?? ''),
    (pair.info?.websites ?? []).map((link) => [word(link.label), word(link.url)]),
    (pair.info?.socials ?? []).map((link) => [word(link.type), word(link.url)]),
  ];
}

const graduations: Record<Schemas['GraduationState'], string> = {
  not_applicable: 'no curve', curve: 'on its curve', completed: 'waits for its pool', graduated: 'in its pool',
};

function tokenInfo(answer: Answer<'getTokenInfo'>): unknown[] {
  return [
    marketToken(answer),
    figure(answer.decimals, answer.unknown_reasons.decimals),
    timeOf(answer.created_at),
    count(answer.liquidity_pairs),
    links(answer.links),
    answer.launch === null ? why(answer.unknown_reasons.launch) : launch(answer.launch),
    freshness(answer.as_of, answer.stale, answer.blocks),
  ];
}

function links(of: Schemas['TokenLinks']): string[] {
  const shown: [string, string | null][] = [['website', of.website], ['x', of.x], ['telegram', of.telegram]];
  return shown.map(([name, url]) => (url === null ? why(of.unknown_reasons[name]) : word(url)));
}

function launch(of: Schemas['TokenLaunch']): unknown[] {
  const past = of.graduation;
  return [word(of.launchpad), graduations[past.state], timeOf(past.at) ?? why(past.unknown_reasons.at), text(past.pool)];
}

const lights: Record<Schemas['HeartbeatStatus'], string> = { ok: 'green', slow: 'yellow', down: 'red' };

function heartbeat(answer: Answer<'getHeartbeat'>): unknown[] {
  return [
    lights[answer.status],
    time(answer.as_of),
    answer.chains.map((chain) => [word(chain.id), lights[chain.status], figure(chain.head_lag_s, chain.unknown_reasons.head_lag_s)]),
    figure(answer.latency_ms, answer.unknown_reasons.latency_ms),
  ];
}

const families: Record<Schemas['VenueFamily'], string> = { own: 'ours', further: 'ours too', outside: 'theirs' };
const doors: Record<Schemas['LaunchState'], string> = { open: 'come in', closed: 'another time' };

function launchStatus(answer: Answer<'getLaunchStatus'>): unknown[] {
  return [
    time(answer.as_of),
    count(answer.launch_fee_usd),
    answer.venues.map((venue) => [word(venue.id), word(venue.label), families[venue.family], word(venue.chain), doors[venue.state]]),
    answer.venues.map((venue) => [flag(venue.default), flag(venue.trades_in_app)]),
    answer.chains.map((chain) => [word(chain.id), word(chain.label), doors[chain.state]]),
  ];
}

const icons: Record<Schemas['ResourceKind'], string> = {
  docs: 'book', developers: 'braces', blog: 'pen', status: 'light', support: 'hand', changelog: 'clock',
};

function mobileHealth(answer: Answer<'getMobileHealth'>): unknown[] {
  const minimums: Record<string, number> = answer.minimums;
  return [
    [answer.fee_bps_per_leg, answer.fee_pct_per_leg, answer.launch_fee_usd, answer.round_trip_pct].map(count),
    answer.chains.map((chain) => [word(chain.id), word(chain.label), count(chain.min_trade_usd), empty(chain.native)]),
    Object.entries(minimums).map(([chain, usd]) => [word(chain), count(usd)]),
    answer.market_chains.map((chain) => [word(chain.id), word(chain.label), count(chain.min_buy_usd)]),
    answer.resources.map((link) => [word(link.id), word(link.label), word(link.url), icons[link.kind]]),
    answer.resources.map((link) => (link.at === undefined ? undefined : time(link.at))),
  ];
}

function signInProviders(answer: Answer<'getSignInProviders'>): unknown[] {
  return answer.providers.map((provider) => [word(provider.id), word(provider.label)]);
}

function version(answer: Answer<'getVersion'>): unknown[] {
  const built = answer.built_at === null ? why(answer.unknown_reasons.built_at) : time(answer.built_at);
  return [word(answer.commit), word(answer.short), word(answer.openapi), built];
}

function openAPI(answer: Answer<'getOpenAPI'>): unknown[] {
  const format: '3.1.0' = answer.openapi;
  const paths: Record<string, unknown> = answer.paths;
  const shared: Record<string, unknown> = answer.components;
  return [format, word(answer.info.title), word(answer.info.version), Object.keys(paths), Object.keys(shared)];
}

/** An operation that isn't read here breaks the compile, and so does one that is gone. */
export const readers: { [Op in Operation]: (answer: Answer<Op>) => unknown[] } = {
  getMarketLive: marketLive,
  getTokenPrices: tokenPrices,
  getMajors: majors,
  searchPairs,
  getTokenInfo: tokenInfo,
  getChart: chart,
  getTokenCandles: tokenCandles,
  getLaunchStatus: launchStatus,
  getHeartbeat: heartbeat,
  getMobileHealth: mobileHealth,
  getSignInProviders: signInProviders,
  getVersion: version,
  getOpenAPI: openAPI,
};

/** Parameters as a client sends them: all of an operation's, and none of those that are optional. */
export const queries: { [Op in Operation]?: [Query<Op>, Query<Op>] } = {
  getMarketLive: [{ per_chain: 5 }, {}],
  getTokenPrices: [{ mints: ['base:0x4ed4e862860bed51a9570b96d89af5e1b0efefed'] }, { mints: [] }],
  getMajors: [{ q: 'eth', chain: 'base', pair: 'ETH', tf: '15m', limit: 10 }, {}],
  searchPairs: [{ q: 'degen' }, { q: '' }],
  getTokenInfo: [{ chain: 'base' }, {}],
  getChart: [
    { chain: 'base', tf: '1m', pair: '', from: 1, to: 2, limit: 3, fill: false, currency: 'native', format: 'udf' },
    {},
  ],
  getTokenCandles: [{ chain: 'base', range: '7d' }, {}],
};

/** Every error of every operation is the same problem. */
type Failure = {
  [Op in Operation]: {
    [Status in Exclude<keyof operations[Op]['responses'], 200 | 304>]:
      operations[Op]['responses'][Status] extends { content: { 'application/problem+json': infer Body } } ? Body : never;
  }[Exclude<keyof operations[Op]['responses'], 200 | 304>];
}[Operation];

export function problem(of: Failure): unknown[] {
  const extra = (value: number | undefined): string => (value === undefined ? '' : count(value));
  return [
    word(of.type),
    word(of.title),
    count(of.status),
    word(of.detail ?? ''),
    word(of.instance ?? ''),
    (of.errors ?? []).map((error) => {
      const place: 'query' | 'path' = error.in;
      return [word(error.name), place, word(error.reason), words(error.allowed ?? []), extra(error.min), extra(error.max)];
    }),
    words(of.chains ?? []),
    word(of.mint ?? ''),
    word(of.chain ?? ''),
    word(of.request_id ?? ''),
    extra(of.max),
    extra(of.got),
    words(of['violated-policies'] ?? []),
    extra(of.retry_after_s),
  ];
}
