import { readFileSync } from "node:fs";

type Address = `0x${string}`;

// What hack/bench says about the chain; it writes the file for each run.
type Chain = {
  id: number;
  rpc: string;
  wrapped: Address;
  /** Quote assets, the preferred one first. */
  quotes: Address[];
  v2Factory: Address;
  v3Factory: Address;
};

export const chain: Chain = JSON.parse(readFileSync(process.env.BENCH_CHAIN!, "utf8"));
