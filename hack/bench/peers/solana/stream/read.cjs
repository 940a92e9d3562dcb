// Reads blocks with all that Boardwalk reads of them, by @subsquid/solana-stream. The argument is JSON: url, and the heights from and to. It prints how many
// transactions it read.
'use strict';

const { DataSourceBuilder, SolanaRpcClient } = require('@subsquid/solana-stream');

const { url, from, to } = JSON.parse(process.argv[2]);

async function main() {
  const source = new DataSourceBuilder()
    .setRpc({ client: new SolanaRpcClient({ url, requestTimeout: 60_000 }), strideSize: 1, strideConcurrency: 2 })
    .setBlockRange({ from, to })
    .setFields({
      block: { slot: true, parentSlot: true, timestamp: true },
      transaction: { signatures: true, err: true, fee: true, accountKeys: true, loadedAddresses: true },
      instruction: { programId: true, accounts: true, data: true, isCommitted: true },
      log: { programId: true, kind: true, message: true },
      tokenBalance: { preMint: true, preDecimals: true, preOwner: true, preAmount: true, postMint: true, postDecimals: true, postOwner: true, postAmount: true },
    })
    .addTransaction({}).addInstruction({}).addLog({}).addTokenBalance({})
    .build();
  let transactions = 0;
  for await (const batch of source.getBlockStream()) {
    for (const block of batch) transactions += block.transactions.length;
  }
  console.log(transactions);
  process.exit(0);
}

main().catch((err) => {
  console.error(err);
  process.exit(1);
});
