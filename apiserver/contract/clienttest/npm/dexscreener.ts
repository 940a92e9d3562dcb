// The types that the npm client dexscreener-api declares for answers to a search, and what they miss.
import type SearchResponse from 'dexscreener-api/dist/types/SearchResponse.js';

export type TheirPair = SearchResponse['pairs'][number];

/**
 * Answers that suit the client. Its types have these figures in every pair, but DexScreener itself leaves out those that it
 * doesn't have, as we do.
 */
export type Answer = Omit<SearchResponse, 'pairs'> & {
  pairs: (Omit<TheirPair, 'liquidity'> & {
    liquidity?: Partial<NonNullable<TheirPair['liquidity']>>;
  })[];
};
