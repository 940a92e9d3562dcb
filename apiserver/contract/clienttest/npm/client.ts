// What the author of a client writes over the types that openapi-typescript makes of the document. It is compiled and
// never run. It takes every member of every 200 answer as what it is, so that one that is dropped, changes its type or is
// no longer sure to be there breaks the compile, as it would break the clients of others.
import type { components, operations } from './api.js';

type Schemas = components['schemas'];
/** The operations that answer with JSON; the others, with a picture or a page. */
type Operation = {
  [Op in keyof operations]: operations[Op]['responses'][200]['content'] extends { 'application/json': unknown } ? Op : never;
}[keyof operations];
type Answer<Op extends Operation> = operations[Op]['responses'][200]['content']['application/json'];
type Query<Op extends keyof operations> = NonNullable<operations[Op]['parameters']['query']>;

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
    pairKind(token.pair_kind, token.unknown_reasons.pair_kind),
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
    figure(of.parts.buyers, of.parts.unknown_reasons.buyers),
    figure(of.parts.clusters, of.parts.unknown_reasons.clusters),
    figure(of.parts.volume_usd, of.parts.unknown_reasons.volume_usd),
    figure(of.parts.new_holders, of.parts.unknown_reasons.new_holders),
    figure(of.parts.liquidity_usd, of.parts.unknown_reasons.liquidity_usd),
    figure(of.parts.members, of.parts.unknown_reasons.members),
    figure(of.parts.age_s, of.parts.unknown_reasons.age_s),
    figure(of.parts.wash, of.parts.unknown_reasons.wash),
    figure(of.parts.concentration, of.parts.unknown_reasons.concentration),
    figure(of.parts.fresh_share_pct, of.parts.unknown_reasons.fresh_share_pct),
    figure(of.parts.funded_by_creator_pct, of.parts.unknown_reasons.funded_by_creator_pct),
  ];
}

const pairKinds: Record<Schemas['PairKind'], string> = { pool: 'pool', curve: 'curve' };

function pairKind(value: Schemas['PairKind'] | null, reason: Schemas['UnknownReason'] | undefined): string {
  return value === null ? why(reason) : pairKinds[value];
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
    pairKind(view.pair_kind, view.unknown_reasons.pair_kind),
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
    pairKind(of.pair_kind, of.unknown_reasons.pair_kind),
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
  return [word(of.launchpad), graduation(of.graduation)];
}

function graduation(past: Schemas['Graduation']): unknown[] {
  return [graduations[past.state], timeOf(past.at) ?? why(past.unknown_reasons.at), text(past.pool)];
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

function onlineCount(answer: Answer<'getOnlineCount'>): unknown[] {
  return [figure(answer.online, answer.unknown_reasons.online), answer.window_s, time(answer.as_of), answer.stale ? 'a while ago' : 'now'];
}

function tokenFamily(answer: Answer<'getTokenFamily'>): unknown[] {
  const holders: string[] = answer.holders.map((holder) => word(holder.handle));
  return [
    [word(answer.mint), word(answer.chain), words(answer.chain_candidates ?? [])],
    figure(answer.count, answer.unknown_reasons.count),
    holders,
    freshness(answer.as_of, answer.stale, undefined),
  ];
}

const filters: Record<Schemas['FeedFilter'], string> = { 'for-you': 'For you', new: 'New', buys: 'Buys', sells: 'Sells', big: 'Big' };

function tradeFeed(answer: Answer<'getTradeFeed'>): unknown[] {
  return [
    freshness(answer.as_of, answer.stale, undefined),
    filters[answer.filter],
    answer.items.map((item) => (item.kind === 'trade' ? feedTrade(item) : feedLaunch(item))),
    answer.next_before === null ? why(answer.unknown_reasons.next_before) : word(answer.next_before),
  ];
}

function feedTrade(item: Schemas['FeedTrade']): unknown[] {
  const kind: 'trade' = item.kind;
  const side: 'buy' | 'sell' = item.side;
  const unknown = item.unknown_reasons;
  return [
    [kind, side, count(item.id), word(item.cursor), time(item.at), word(item.handle)],
    item.avatar_url === null ? why(unknown.avatar_url) : word(item.avatar_url),
    item.rank === null ? why(unknown.rank) : word(item.rank.id),
    [word(item.token.mint), word(item.token.chain), word(item.token.symbol), word(item.token.name)],
    item.token.image_url === null ? why(item.token.unknown_reasons.image_url) : word(item.token.image_url),
    [count(item.amount_usd), count(item.price_usd)],
    item.tx === null ? why(unknown.tx) : word(item.tx),
    figure(item.now.price_usd, item.now.unknown_reasons.price_usd),
    figure(item.now.change_since_pct, item.now.unknown_reasons.change_since_pct),
    item.realised === null
      ? why(unknown.realised)
      : [figure(item.realised.pnl_usd, item.realised.unknown_reasons.pnl_usd), figure(item.realised.pnl_pct, item.realised.unknown_reasons.pnl_pct)],
    figure(item.others_in.count, item.others_in.unknown_reasons.count),
    item.others_in.faces.map((face) => word(face.handle)),
    item.note === null ? why(unknown.note) : [word(item.note.text), rich(item.note.rich)],
  ];
}

function feedLaunch(item: Schemas['FeedLaunch']): unknown[] {
  const kind: 'launch' = item.kind;
  return [kind, count(item.id), word(item.cursor), time(item.at), launchCard(item.card)];
}

function liveSince(answer: Answer<'getLiveSince'>): unknown[] {
  const cursor = [count(answer.cursor.trade), count(answer.cursor.launch), count(answer.cursor.call)];
  if (!('trades' in answer)) {
    return cursor;
  }
  const flags = (of: Schemas['LiveFlags']): unknown[] => [flag(of.trade), flag(of.launch), flag(of.call)];
  return [
    cursor,
    freshness(answer.as_of, answer.stale, undefined),
    [answer.trades.map(feedTrade), answer.launches.map(feedLaunch), answer.calls.map(call)],
    Object.entries(answer.prices).map(([asked, price]) => [asked, priceView(price)]),
    answer.missing.map(word),
    [answer.retracted.trades.map(count), answer.retracted.launches.map(count), answer.retracted.calls.map(count)],
    [flags(answer.truncated), flags(answer.reset)],
  ];
}

const outcomes: Record<Schemas['Call']['outcome'], string> = { open: '…', win: '+', loss: '-' };

function call(of: Schemas['Call']): unknown[] {
  return [
    [count(of.id), word(of.handle), word(of.mint), word(of.chain), word(of.symbol), time(of.called_at)],
    count(of.price_at_call_usd),
    figure(of.peak_multiple, of.unknown_reasons.peak_multiple),
    figure(of.multiple_now, of.unknown_reasons.multiple_now),
    outcomes[of.outcome],
    of.text === undefined || of.rich === undefined ? '' : [word(of.text), rich(of.rich)],
  ];
}

function rich(of: Schemas['Rich']): unknown[] {
  const span = (at: Schemas['RichSpan']): string => count(at.end - at.start);
  return [
    of.mentions.map((name) => [span(name.span), word(name.text), word(name.handle), flag(name.exists)]),
    of.tags.map((tag) => [span(tag.span), word(tag.text), word(tag.symbol), flag(tag.resolved), word(tag.mint ?? ''), word(tag.chain ?? '')]),
    of.addresses.map((seen) => [span(seen.span), word(seen.text), word(seen.address), seen.chain === null ? why(seen.unknown_reasons.chain) : word(seen.chain)]),
    of.links.map((link) => [span(link.span), word(link.text), word(link.url)]),
  ];
}

function landingLive(answer: Answer<'getLandingLive'>): unknown[] {
  return [
    freshness(answer.as_of, answer.stale, undefined),
    answer.launches.map((of) => [
      [of.mint, of.chain, of.name, of.symbol, of.launchpad].map(word),
      of.image_url === null ? why(of.unknown_reasons.image_url) : word(of.image_url),
      time(of.created_at),
      figure(of.market_cap_usd, of.unknown_reasons.market_cap_usd),
    ]),
    answer.calls.map(call),
  ];
}

function landingStats(answer: Answer<'getLandingStats'>): unknown[] {
  const unknown = answer.unknown_reasons;
  return [
    freshness(answer.as_of, answer.stale, undefined),
    answer.since === null ? why(unknown.since) : time(answer.since),
    figure(answer.members, unknown.members),
    figure(answer.trades, unknown.trades),
    figure(answer.volume_usd, unknown.volume_usd),
    [answer.launches, answer.graduated, answer.tokens_traded, answer.chains].map(count),
  ];
}

function membersIn(answer: Answer<'getMembersIn'>): unknown[] {
  return [
    freshness(answer.as_of, answer.stale, undefined),
    Object.entries(answer.tokens).map(([asked, token]) => [
      asked,
      figure(token.count, token.unknown_reasons.count),
      token.faces.map((face) => [word(face.handle), face.avatar_url === null ? why(face.unknown_reasons.avatar_url) : word(face.avatar_url)]),
    ]),
    answer.missing.map(word),
  ];
}

function leaderboard(answer: Answer<'getLeaderboard'>): unknown[] {
  const method: 'wac-v1' = answer.method;
  return [
    freshness(answer.as_of, answer.stale, undefined), answer.from, answer.to, answer.window_s, method, answer.currency,
    answer.traders.map((trader) => [
      trader.rank, word(trader.handle), trader.avatar_url === null ? why(trader.unknown_reasons.avatar_url) : word(trader.avatar_url), count(trader.realised_pnl_usd), figure(trader.realised_pnl_pct, trader.unknown_reasons.realised_pnl_pct),
      count(trader.cost_usd), count(trader.proceeds_usd), count(trader.fees_usd), figure(trader.gas_usd, trader.unknown_reasons.gas_usd),
      trader.sells, trader.wins, trader.losses, count(trader.win_rate_pct), count(trader.excluded_sells_usd),
      trader.best === null ? why(trader.unknown_reasons.best) : best(trader.best),
      trader.wallet === null ? why(trader.unknown_reasons.wallet) : word(trader.wallet),
      trader.game_rank === null ? why(trader.unknown_reasons.game_rank) : [word(trader.game_rank.id), trader.game_rank.level, word(trader.game_rank.name)],
    ]),
  ];
}

function best(sale: Schemas['LeaderboardBest']): unknown[] {
  const symbol = sale.symbol === null ? why(sale.unknown_reasons.symbol) : word(sale.symbol);
  return [word(sale.mint), word(sale.chain), symbol, count(sale.pnl_usd)];
}

function leaderboardSeries(answer: Answer<'getLeaderboardSeries'>): unknown[] {
  return [
    freshness(answer.as_of, answer.stale, undefined), answer.range, answer.interval_s, answer.method, count(answer.total_usd),
    answer.points.map((point) => [point.t, count(point.realised_usd), count(point.cumulative_usd), point.sells, point.traders, flag(point.final)]),
  ];
}

function gameRank(rank: Schemas['GameRank']): unknown[] {
  return [word(rank.id), count(rank.level), word(rank.name)];
}

function gameLadder(answer: Answer<'getGameLadder'>): unknown[] {
  return [
    freshness(answer.as_of, answer.stale, undefined), count(answer.total),
    answer.ranks.map((rank) => [word(rank.id), count(rank.level), word(rank.name), count(rank.min_xp), count(rank.members)]),
  ];
}

function gameProfile(answer: Answer<'getGameProfile'>): unknown[] {
  const reasons = answer.unknown_reasons;
  return [
    freshness(answer.as_of, answer.stale, undefined), word(answer.handle), answer.avatar_url === null ? why(reasons.avatar_url) : word(answer.avatar_url),
    gameRank(answer.rank), count(answer.xp),
    answer.next_rank === null ? why(reasons.next_rank) : [word(answer.next_rank.id), count(answer.next_rank.min_xp)],
    answer.badges.map((badge) => [
      word(badge.id), word(badge.name), badge.image_url === null ? why(badge.unknown_reasons.image_url) : word(badge.image_url), time(badge.earned_at),
    ]),
    answer.joined_at === null ? why(reasons.joined_at) : time(answer.joined_at),
  ];
}

function gameRanks(answer: Answer<'getGameRanks'>): unknown[] {
  return [Object.entries(answer.ranks).map(([handle, rank]) => [word(handle), ...gameRank(rank)]), words(answer.missing), flag(answer.stale ?? false)];
}

function gameSeason(answer: Answer<'getGameSeason'>): unknown[] {
  return [
    word(answer.season.id), time(answer.season.starts_at), time(answer.season.ends_at), freshness(answer.as_of, answer.stale, undefined),
    answer.entries.map((entry) => [word(entry.handle), count(entry.rank), count(entry.score)]),
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

const sorts: Record<Schemas['LaunchSort'], string> = {
  running: 'Running', new: 'New', trending: 'Hot', progress: 'Near graduation', graduated: 'Graduated',
};

function launchBoard(answer: Answer<'getLaunchBoard'>): unknown[] {
  const next: string | null = answer.next_before;
  return [
    freshness(answer.as_of, answer.stale, answer.blocks),
    sorts[answer.sort],
    word(answer.launchpad),
    word(answer.chain),
    gate(answer.gate),
    [word(answer.formula.id), word(answer.formula.doc)],
    answer.launches.map(launchCard),
    next === null ? why(answer.unknown_reasons.next_before) : word(next),
  ];
}

function gate(of: Schemas['Gate']): unknown[] {
  const fail: 'fail' = of.unknown_holders;
  const byChain: Record<string, number> = of.liquidity_usd_min_by_chain;
  return [
    word(of.version),
    [of.liquidity_usd_min, of.volume_24h_usd_min, of.age_s_min, of.age_s_max, of.holders_min].map(count),
    Object.entries(byChain).map(([chain, usd]) => [word(chain), count(usd)]),
    count(of.curve.progress_pct_min + of.curve.buyers_1h_min),
    fail,
  ];
}

const pasts: Record<Schemas['HoldersSource'], string> = { indexing: 'counting', stale: 'too old', unavailable: 'unknown' };
const modes: Record<Schemas['BuyMode'], string> = { sheet: 'here', external: 'there' };
const progressBases: Record<Schemas['CurveBasis'], string> = { tokens_sold: 'sold', funds_raised: 'raised' };

function launchCard(card: Schemas['LaunchCard']): unknown[] {
  return [launchBase(card), creator(card.creator), graduation(card.graduation), count(card.clones ?? 0)];
}

function launchBase(card: Schemas['LaunchBase']): unknown[] {
  const unknown = card.unknown_reasons;
  return [
    [card.mint, card.chain, card.name, card.symbol, card.launchpad].map(word),
    [text(card.image_url), text(card.badge), flag(card.own)],
    [time(card.created_at), count(card.age_s)],
    figure(card.price_usd, unknown.price_usd),
    figure(card.change_1h_pct, unknown.change_1h_pct),
    figure(card.change_24h_pct, unknown.change_24h_pct),
    figure(card.market_cap_usd, unknown.market_cap_usd),
    [card.liquidity_usd, card.volume_24h_usd, card.volume_1h_usd].map(count),
    figure(card.buyers_1h, unknown.buyers_1h),
    figure(card.sellers_1h, unknown.sellers_1h),
    card.holders === null ? pasts[card.holders_source ?? 'unavailable'] : count(card.holders),
    words(card.holders_excluded ?? []),
    card.curve === null ? why(unknown.curve) : curve(card.curve),
    [flag(card.gate_pass), words(card.gate_fails)],
    card.traction === null ? why(unknown.traction) : [traction(card.traction), figure(card.traction.rank, card.traction.unknown_reasons.rank)],
    family(card.members),
    [modes[card.buy.mode], word(card.buy.url ?? '')],
    sources(card.figure_sources),
  ];
}

function creator(of: Schemas['LaunchCreator']): string[] {
  return [word(of.address), of.handle === null ? why(of.unknown_reasons.handle) : word(of.handle)];
}

function raw(value: string | null, reason: Schemas['UnknownReason'] | undefined): string {
  return value === null ? why(reason) : BigInt(value).toString();
}

function curve(of: Schemas['LaunchCurve']): unknown[] {
  return [
    count(of.progress_pct), progressBases[of.basis], BigInt(of.raised_native), raw(of.target_native, of.unknown_reasons.target_native),
  ];
}

function family(of: Schemas['FamilyHolders']): unknown[] {
  return [figure(of.count, of.unknown_reasons.count), words(of.handles)];
}

function launchedToken(answer: Answer<'getLaunchedToken'>): unknown[] {
  return [
    launchBase(answer),
    record(answer.creator),
    moved(answer.graduation),
    freshness(answer.as_of, answer.stale, answer.blocks),
    words(answer.chain_candidates ?? []),
    answer.curve_detail === null ? why(answer.unknown_reasons.curve_detail) : curveDetail(answer.curve_detail),
    family(answer.family),
  ];
}

function record(of: Schemas['CreatorRecord']): unknown[] {
  return [creator(of), count(of.launches), count(of.graduated), figure(of.holds_pct, of.unknown_reasons.holds_pct)];
}

function moved(of: Schemas['LaunchGraduation']): unknown[] {
  return [graduation(of), text(of.tx), raw(of.threshold_native, of.unknown_reasons.threshold_native)];
}

function curveDetail(of: Schemas['CurveDetail']): unknown[] {
  const unknown = of.unknown_reasons;
  return [
    raw(of.virtual_base, unknown.virtual_base),
    raw(of.virtual_quote, unknown.virtual_quote),
    raw(of.real_base, unknown.real_base),
    raw(of.real_quote, unknown.real_quote),
    text(of.quote_symbol),
    figure(of.price_native, unknown.price_native),
    figure(of.fee_bps, unknown.fee_bps),
  ];
}

const verdicts: Record<Schemas['TrustVerdict'], string> = { ok: 'fine', caution: 'careful', danger: 'no', unknown: 'who knows' };
const results: Record<Schemas['TrustResult'], string> = { pass: '+', warn: '!', fail: '-', unknown: '?' };
const severities: Record<Schemas['TrustSeverity'], number> = { info: 0, low: 1, medium: 2, high: 3, critical: 4 };

function tokenTrust(answer: Answer<'getTokenTrust'>): unknown[] {
  const status: 'checked' | 'unchecked' = answer.status;
  const reason: 'no_checker' | undefined = answer.reason;
  return [
    [word(answer.mint), word(answer.chain), words(answer.chain_candidates ?? [])],
    [status, reason ?? ''],
    verdicts[answer.verdict],
    figure(answer.score, answer.unknown_reasons.score),
    answer.checks.map(trustCheck),
    count(answer.summary.pass + answer.summary.warn + answer.summary.fail + answer.summary.unknown),
    figure(answer.age_s, answer.unknown_reasons.age_s),
    answer.pair === null ? why(answer.unknown_reasons.pair) : word(answer.pair),
    pairKind(answer.pair_kind, answer.unknown_reasons.pair_kind),
    [word(answer.checker.id), word(answer.checker.version)],
    freshness(answer.as_of, answer.stale, undefined),
    answer.block === null ? why(answer.unknown_reasons.block) : [count(answer.block.number), word(answer.block.hash)],
  ];
}

function trustCheck(of: Schemas['TrustCheck']): unknown[] {
  const measured = (value: number | string | boolean | null): string =>
    typeof value === 'number' ? count(value) : typeof value === 'string' ? word(value) : value === null ? '' : flag(value);
  const unit: 'pct' | 'usd' | 's' | 'bool' | 'address' | null = of.unit;
  return [
    [word(of.id), word(of.title), results[of.result], severities[of.severity]],
    [measured(of.value), unit ?? why(of.unknown_reasons.unit), measured(of.threshold), word(of.unknown_reason ?? '')],
    of.evidence.map((seen) => [evidence(seen.kind), word(seen.ref), count(seen.block), word(seen.detail)]),
    word(of.source),
  ];
}

const evidence = (kind: 'account' | 'call' | 'simulation' | 'log' | 'index'): string => kind;

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
  getTokenTrust: tokenTrust,
  getLaunchBoard: launchBoard,
  getLaunchStatus: launchStatus,
  getLaunchedToken: launchedToken,
  getOnlineCount: onlineCount,
  getTokenFamily: tokenFamily,
  getTradeFeed: tradeFeed,
  getLiveSince: liveSince,
  getMembersIn: membersIn,
  getLandingLive: landingLive,
  getLandingStats: landingStats,
  getLeaderboard: leaderboard,
  getLeaderboardSeries: leaderboardSeries,
  getGameLadder: gameLadder,
  getGameProfile: gameProfile,
  getGameRanks: gameRanks,
  getGameSeason: gameSeason,
  getHeartbeat: heartbeat,
  getMobileHealth: mobileHealth,
  getSignInProviders: signInProviders,
  getVersion: version,
  getOpenAPI: openAPI,
};

/** What is no JSON: that an operation answers with something else breaks the compile too. */
export const media: { [Op in Exclude<keyof operations, Operation>]: keyof operations[Op]['responses'][200]['content'] } = {
  getTokenCard: 'image/png',
  getLaunchCard: 'image/png',
  getTraderCard: 'image/png',
  getSharePage: 'text/html',
  getLiveStream: 'text/event-stream',
};

/** Parameters as a client sends them: all of an operation's, and none of those that are optional. */
export const queries: { [Op in keyof operations]?: [Query<Op>, Query<Op>] } = {
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
  getTokenTrust: [{ chain: 'base', pair_created_at: 1772452800000 }, {}],
  getTokenFamily: [{ chain: 'base', limit: 5 }, {}],
  getTradeFeed: [{ filter: 'big', limit: 10, before: 'x', mint: 'base:0x4ed4e862860bed51a9570b96d89af5e1b0efefed', launches: 1 }, {}],
  getLiveSince: [{ trade: 1, launch: 2, call: 3, mints: ['base:0x4ed4e862860bed51a9570b96d89af5e1b0efefed'] }, {}],
  getLiveStream: [{ trade: 1, launch: 2, call: 3, mints: ['base:0x4ed4e862860bed51a9570b96d89af5e1b0efefed'] }, {}],
  getMembersIn: [{ mints: ['base:0x4ed4e862860bed51a9570b96d89af5e1b0efefed'] }, { mints: [] }],
  getLeaderboard: [{ chain: 'base', limit: 5 }, {}],
  getLeaderboardSeries: [{ range: '24h' }, {}],
  getGameRanks: [{ handles: ['ada', 'grace'] }, { handles: [] }],
  getGameSeason: [{ limit: 5 }, {}],
  getLaunchBoard: [{ sort: 'new', limit: 10, launchpad: 'ours', chain: 'base', before: 'x' }, {}],
  getLaunchedToken: [{ chain: 'base' }, {}],
  getTokenCard: [{ chain: 'base' }, {}],
  getLaunchCard: [{ chain: 'base' }, {}],
  getSharePage: [{ chain: 'base', ref: 'otter_7' }, {}],
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
    word(of.handle ?? ''),
    word(of.mint ?? ''),
    word(of.chain ?? ''),
    word(of.wallet ?? ''),
    word(of.request_id ?? ''),
    extra(of.max),
    extra(of.got),
    words(of['violated-policies'] ?? []),
    extra(of.retry_after_s),
  ];
}
