// Writes pools of Meteora's DAMM v2 with random contents, each with a swap, by the arithmetic of the program's makers (npm @meteora-ag/cp-amm-sdk): a line of JSON each. The argument
// is a seed.
'use strict';

const { BN } = require('@coral-xyz/anchor');
const {
  MIN_SQRT_PRICE, MAX_SQRT_PRICE, Rounding, calculateAtoBFromAmountInForConcentratedLiquidity, calculateBtoAFromAmountInForConcentratedLiquidity,
  getAmountAFromLiquidityDeltaForConcentratedLiquidity, getAmountBFromLiquidityDeltaForConcentratedLiquidity, getReservesAmountForConcentratedLiquidity,
} = require('@meteora-ag/cp-amm-sdk');

let state = Number(process.argv[2] || 1);
function random() { // mulberry32
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}

// times is n by a factor, to 2^-40.
const times = (n, factor) => n.mul(new BN(Math.round(factor * 2 ** 40).toString())).shrn(40);
const least = (a, b) => (a.lt(b) ? a : b);
const most = (a, b) => (a.gt(b) ? a : b);

// The square root of the price after it fell by 2 %, or after the price of the other token did.
const fall = Math.sqrt(0.98);

for (let n = 0; n < 400;) {
  const price = new BN(2).pow(new BN(40 + Math.floor(random() * 48))).mul(new BN(1000 + Math.floor(random() * 1000))).divn(1000);
  const wide = random() < 0.3;
  const min = wide ? MIN_SQRT_PRICE : most(MIN_SQRT_PRICE, times(price, 1 - random() * (random() < 0.5 ? 0.02 : 0.9)));
  const max = wide ? MAX_SQRT_PRICE : least(MAX_SQRT_PRICE, times(price, 1 + random() * (random() < 0.5 ? 0.02 : 9)));
  const liquidity = new BN(2).pow(new BN(80 + Math.floor(random() * 40))).muln(3 + Math.floor(random() * 5));
  const [a, b] = getReservesAmountForConcentratedLiquidity(price, min, max, liquidity);
  if (a.bitLength() > 63 || b.bitLength() > 63 || a.bitLength() < 20 || b.bitLength() < 20) continue;
  const fromA = random() < 0.5;
  const given = times(fromA ? a : b, random() ** 8 / 50);
  let swap;
  try {
    swap = fromA
      ? calculateAtoBFromAmountInForConcentratedLiquidity(min, price, liquidity, given)
      : calculateBtoAFromAmountInForConcentratedLiquidity(max, price, liquidity, given);
  } catch {
    continue; // out of the range
  }
  n++;
  console.log(JSON.stringify({
    price, min, max, liquidity, a, b, next: swap.nextSqrtPrice, crossed: fromA ? swap.outputAmount : given,
    // what comes out of either token until its price fell by 2 %, or until the range ends
    depthB: getAmountBFromLiquidityDeltaForConcentratedLiquidity(most(min, times(price, fall)), price, liquidity, Rounding.Down),
    depthA: getAmountAFromLiquidityDeltaForConcentratedLiquidity(price, least(max, times(price, 1 / fall)), liquidity, Rounding.Down),
  }, (_, v) => (typeof v === 'string' && /^[0-9a-f]+$/.test(v) ? new BN(v, 16).toString() : v)));
}
