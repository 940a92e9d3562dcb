// Encodes blocks that nodes tell in JSON as Yellowstone gRPC sends them, by the code of its makers' client. Standard input is {slot, blocks}; it prints a list of
// the messages, in base64.
'use strict';

const path = require('node:path');
const { blockOf, plugin } = require(path.join(__dirname, '../../../../hack/simnet/solana/svm/node/geyser.cjs'));

// Blocks of tests leave out what means nothing to them, and the encoder wants all.
const NOTHING = '11111111111111111111111111111111';

function whole(block) {
  for (const { transaction: { message, signatures }, meta } of block.transactions) {
    message.recentBlockhash ??= NOTHING;
    message.instructions ??= [];
    message.header ??= { numRequiredSignatures: 1, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 0 };
    if (signatures.length === 0) signatures.push(NOTHING);
    meta.fee ??= 0;
    meta.preBalances ??= [];
    meta.postBalances ??= [];
    for (const b of [...(meta.preTokenBalances || []), ...(meta.postTokenBalances || [])]) b.uiTokenAmount.uiAmountString ??= '0';
  }
  block.blockHeight ??= 0;
  return block;
}

const parts = [];
process.stdin.on('data', (part) => parts.push(part));
process.stdin.on('end', () => {
  const { slot, blocks } = JSON.parse(Buffer.concat(parts).toString('utf8'));
  const out = blocks.map((b) => Buffer.from(plugin.SubscribeUpdateBlock.encode(blockOf(slot, whole(b))).finish()).toString('base64'));
  process.stdout.write(JSON.stringify(out));
});
