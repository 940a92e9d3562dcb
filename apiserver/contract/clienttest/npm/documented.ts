// Whatever the document allows for a search suits the client dexscreener-api.
import type { components } from './api.js';
import type { Answer, TheirPair } from './dexscreener.js';

type Search = components['schemas']['DexSearch'];
type Pair = Search['pairs'][number];

export const answer = (ours: Search): Answer => ours;

export const priceChange = (ours: Pair): TheirPair['priceChange'] => ours.priceChange;

// Answer allows more than the client declares. A line that compiles without its comment says that Answer need not allow it.
// @ts-expect-error: pools that keep liquidity in ranges of prices tell no amounts
export const liquidity = (ours: NonNullable<Pair['liquidity']>): NonNullable<TheirPair['liquidity']> => ours;
