// Reads a local Solana's stream by @triton-one/yellowstone-grpc, and holds what it sends against what the node tells by JSON-RPC. The arguments are both addresses
// and the token; blocks are made by somebody else meanwhile. It prints "agreed" where everything is as it should be.
'use strict';

const assert = require('node:assert/strict');
const { default: Client, CommitmentLevel, txEncode, txErrDecode } = require('@triton-one/yellowstone-grpc');
const { bs58 } = require('@coral-xyz/anchor').utils.bytes;

const [rpc, stream, token] = process.argv.slice(2);
const WANTED = 20; // blocks

async function call(method, ...params) {
  const response = await fetch(rpc, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) });
  const { result, error } = await response.json();
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}

const wanted = { accounts: {}, slots: { all: { filterByCommitment: true } }, transactions: {}, transactionsStatus: {}, blocksMeta: {}, entry: {}, accountsDataSlice: [] };

async function main() {
  const stranger = new Client(stream, 'another token', undefined, { enabled: false });
  await assert.rejects(async () => { await stranger.connect(); await stranger.getVersion(); });

  const client = new Client(stream, token, undefined, { enabled: false });
  await client.connect();
  const newest = await call('getSlot', { commitment: 'confirmed' });
  assert.ok(Number(await client.getSlot(CommitmentLevel.CONFIRMED)) >= newest || Number((await client.getSlot(CommitmentLevel.CONFIRMED)).slot) >= newest);

  const reader = await client.subscribe();
  const blocks = [], slots = new Set();
  let ponged = false;
  const done = new Promise((resolve, reject) => {
    reader.on('data', (u) => {
      if (u.pong) ponged = u.pong.id === 7;
      if (u.slot) slots.add(u.slot.slot);
      if (u.block && blocks.push(u.block) === WANTED) resolve();
    });
    reader.on('error', reject);
  });
  reader.write({ ...wanted, commitment: CommitmentLevel.CONFIRMED, blocks: { all: { accountInclude: [], includeTransactions: true, includeAccounts: false, includeEntries: false } } });
  reader.write({ ...wanted, slots: {}, blocks: {}, ping: { id: 7 } });
  await done;
  assert.ok(ponged);

  let transactions = 0, failed = 0;
  for (const [i, b] of blocks.entries()) {
    const told = await call('getBlock', Number(b.slot), { commitment: 'confirmed', encoding: 'json', maxSupportedTransactionVersion: 1 });
    assert.equal(b.blockhash, told.blockhash);
    assert.equal(b.parentBlockhash, told.previousBlockhash);
    assert.equal(Number(b.parentSlot), told.parentSlot);
    assert.equal(Number(b.blockTime.timestamp), told.blockTime);
    assert.equal(Number(b.executedTransactionCount), told.transactions.length);
    assert.ok(slots.has(b.slot), `${b.slot} of ${[...slots]}`);
    if (i > 0) assert.equal(b.parentBlockhash, blocks[i - 1].blockhash);
    for (const [k, t] of b.transactions.entries()) {
      const want = told.transactions[k];
      transactions++;
      assert.equal(bs58.encode(Buffer.from(t.signature)), want.transaction.signatures[0]);
      if (want.meta.err) {
        failed++;
        assert.deepEqual(txErrDecode.decode(t.meta.err.err), want.meta.err);
        continue;
      }
      const got = txEncode.encode(t, txEncode.encoding.Json, 1, false);
      assert.deepEqual(got.transaction.message.accountKeys, want.transaction.message.accountKeys);
      assert.deepEqual(got.transaction.message.instructions, want.transaction.message.instructions);
      for (const b of [...want.meta.preTokenBalances, ...want.meta.postTokenBalances]) b.uiTokenAmount.uiAmount ||= null; // so the client tells nothing
      for (const field of ['innerInstructions', 'logMessages', 'preTokenBalances', 'postTokenBalances', 'preBalances', 'postBalances', 'fee', 'loadedAddresses']) {
        assert.deepEqual(got.meta[field], want.meta[field], field);
      }
    }
  }
  assert.ok(transactions > WANTED && failed > 0, `${transactions} transactions, of which ${failed} failed`);
  console.log('agreed');
  process.exit(0);
}

main().catch((err) => {
  console.error(err);
  process.exit(1);
});
