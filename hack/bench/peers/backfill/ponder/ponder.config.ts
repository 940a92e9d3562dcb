import { createConfig, factory } from "ponder";

import { erc20, v2Factory, v2Pair, v3Factory, v3Pool, weth } from "./abi";
import { chain } from "./chain";

export default createConfig({
  chains: { bench: { id: chain.id, rpc: chain.rpc } },
  contracts: {
    // Without an address: every token's transfers.
    Token: { abi: erc20, chain: "bench", startBlock: 0 },
    Wrapped: { abi: weth, chain: "bench", address: chain.wrapped, startBlock: 0 },
    V2Factory: { abi: v2Factory, chain: "bench", address: chain.v2Factory, startBlock: 0 },
    V2Pair: {
      abi: v2Pair,
      chain: "bench",
      address: factory({ address: chain.v2Factory, event: v2Factory[0], parameter: "pair" }),
      startBlock: 0,
    },
    V3Factory: { abi: v3Factory, chain: "bench", address: chain.v3Factory, startBlock: 0 },
    V3Pool: {
      abi: v3Pool,
      chain: "bench",
      address: factory({ address: chain.v3Factory, event: v3Factory[0], parameter: "pool" }),
      startBlock: 0,
    },
  },
});
