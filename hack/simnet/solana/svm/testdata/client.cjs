// Reads and writes a local Solana by @solana/web3.js, which holds every answer against its own idea of it. The argument is the node's address; blocks are made
// by somebody else meanwhile. It prints "agreed" where everything is as it should be.
'use strict';

const assert = require('node:assert/strict');
const w3 = require('@solana/web3.js');
const { bs58 } = require('@coral-xyz/anchor').utils.bytes;

const url = process.argv[2];
const WSOL = new w3.PublicKey('So11111111111111111111111111111111111111112');
const TOKEN = new w3.PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const ACCOUNTS = new w3.PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function main() {
  const c = new w3.Connection(url, 'confirmed');

  // included waits until a transaction is in a block that is not the newest one any more, and gives its status.
  async function included(signature) {
    for (let n = 0; n < 1000; n++) {
      const { value } = await c.getSignatureStatus(signature);
      if (value && value.slot < await c.getSlot()) return value;
      await pause(20);
    }
    throw new Error(`${signature} is in no block`);
  }
  async function sent(tx) {
    const signature = await c.sendTransaction(tx);
    return [signature, await included(signature)];
  }
  async function versioned(payer, instructions, signers = [payer], tables = []) {
    const { blockhash } = await c.getLatestBlockhash();
    const tx = new w3.VersionedTransaction(new w3.TransactionMessage({ payerKey: payer.publicKey, recentBlockhash: blockhash, instructions }).compileToV0Message(tables));
    tx.sign(signers);
    return tx;
  }

  // The node's version, genesis hash, and which blocks it has.
  assert.match(await c.getGenesisHash(), /^[1-9A-HJ-NP-Za-km-z]{32,44}$/);
  assert.equal((await c.getVersion())['solana-core'].split('.').length, 3);
  const slot = await c.getSlot();
  assert.ok(await c.getSlot('finalized') <= slot);
  assert.ok((await c.getEpochInfo()).absoluteSlot >= slot);
  assert.equal((await c.getEpochSchedule()).slotsPerEpoch, 432_000);
  assert.ok(await c.getBlockHeight() > 0);
  const first = await c.getFirstAvailableBlock();
  assert.equal(await c.getMinimumLedgerSlot(), first);
  const blocks = await c.getBlocks(first, slot);
  assert.equal(blocks[0], first);
  assert.ok(await c.getBlockTime(first) > 1_700_000_000);

  // People get SOL, and pay.
  const [a, b] = [w3.Keypair.generate(), w3.Keypair.generate()];
  await c.requestAirdrop(a.publicKey, 10 * w3.LAMPORTS_PER_SOL);
  assert.equal(await c.getBalance(a.publicKey), 10 * w3.LAMPORTS_PER_SOL);
  assert.equal(await c.getMinimumBalanceForRentExemption(165), 2_039_280);
  const legacy = new w3.Transaction({ feePayer: a.publicKey, recentBlockhash: (await c.getLatestBlockhash()).blockhash })
    .add(w3.SystemProgram.transfer({ fromPubkey: a.publicKey, toPubkey: b.publicKey, lamports: w3.LAMPORTS_PER_SOL }));
  assert.equal((await c.getFeeForMessage(legacy.compileMessage())).value, 5000);
  legacy.sign(a);
  const paidBy = await c.sendRawTransaction(legacy.serialize());
  await included(paidBy);
  assert.equal(await c.getBalance(b.publicKey), w3.LAMPORTS_PER_SOL);
  assert.equal(await c.getBalance(a.publicKey), 9 * w3.LAMPORTS_PER_SOL - 5000);
  const paid = await c.getTransaction(paidBy, { maxSupportedTransactionVersion: 0 });
  assert.equal(paid.version, 'legacy');
  assert.deepEqual([paid.meta.fee, paid.meta.postBalances[1] - paid.meta.preBalances[1]], [5000, w3.LAMPORTS_PER_SOL]);
  await assert.rejects(c.sendRawTransaction(legacy.serialize()), /already been processed/);

  // The node refuses a transaction whose simulation fails; sent without a simulation, it stands in a block with its error.
  const tooMuch = () => [w3.SystemProgram.transfer({ fromPubkey: b.publicKey, toPubkey: a.publicKey, lamports: 5 * w3.LAMPORTS_PER_SOL })];
  await assert.rejects(c.sendTransaction(await versioned(b, tooMuch())), /custom program error|"Custom":1/);
  const failing = await c.sendTransaction(await versioned(b, tooMuch()), { skipPreflight: true });
  await included(failing);
  const failed = await c.getTransaction(failing, { maxSupportedTransactionVersion: 0 });
  assert.deepEqual(failed.meta.err, { InstructionError: [0, { Custom: 1 }] });
  assert.equal(failed.meta.preBalances[0] - failed.meta.postBalances[0], 5000);
  const dry = await c.simulateTransaction(await versioned(a, tooMuch(), [a, b]), { replaceRecentBlockhash: true, sigVerify: false });
  assert.deepEqual(dry.value.err, { InstructionError: [0, { Custom: 1 }] });
  const wet = await c.simulateTransaction(await versioned(a, [w3.SystemProgram.transfer({ fromPubkey: a.publicKey, toPubkey: b.publicKey, lamports: 7 })]),
    { accounts: { encoding: 'base64', addresses: [b.publicKey.toBase58()] } });
  assert.equal(wet.value.err, null);
  assert.equal(wet.value.accounts[0].lamports, await c.getBalance(b.publicKey) + 7);

  // Wrapped SOL, through a lookup table: keys that a transaction loads stand behind its own, those that are written first.
  const at = w3.PublicKey.findProgramAddressSync([a.publicKey.toBuffer(), TOKEN.toBuffer(), WSOL.toBuffer()], ACCOUNTS)[0];
  const [make, table] = w3.AddressLookupTableProgram.createLookupTable({ authority: a.publicKey, payer: a.publicKey, recentSlot: await c.getSlot() });
  const extend = w3.AddressLookupTableProgram.extendLookupTable({ payer: a.publicKey, authority: a.publicKey, lookupTable: table, addresses: [WSOL, at, w3.SystemProgram.programId, TOKEN] });
  const [, made] = await sent(await versioned(a, [make, extend]));
  assert.equal(made.err, null);
  const tables = [(await c.getAddressLookupTable(table)).value];
  assert.equal(tables[0].state.addresses.length, 4);
  const open = new w3.TransactionInstruction({
    programId: ACCOUNTS, data: Buffer.from([1]), keys: [[a.publicKey, true, true], [at, false, true], [a.publicKey, false, false], [WSOL, false, false],
      [w3.SystemProgram.programId, false, false], [TOKEN, false, false]].map(([pubkey, isSigner, isWritable]) => ({ pubkey, isSigner, isWritable })),
  });
  const sync = new w3.TransactionInstruction({ programId: TOKEN, data: Buffer.from([17]), keys: [{ pubkey: at, isSigner: false, isWritable: true }] });
  const [wrapped, status] = await sent(await versioned(a, [open, w3.SystemProgram.transfer({ fromPubkey: a.publicKey, toPubkey: at, lamports: 3_000_000 }), sync], [a], tables));
  assert.equal(status.err, null);
  const told = await c.getTransaction(wrapped, { maxSupportedTransactionVersion: 0 });
  assert.deepEqual([told.version, told.meta.loadedAddresses.writable.map(String), told.meta.loadedAddresses.readonly.map(String)], [0, [at.toBase58()], [WSOL.toBase58()]]);
  const own = told.transaction.message.staticAccountKeys.length;
  assert.deepEqual(told.meta.preTokenBalances, []);
  assert.deepEqual(told.meta.postTokenBalances.map((t) => [t.accountIndex, t.mint, t.owner, t.uiTokenAmount.amount, t.uiTokenAmount.uiAmountString]),
    [[own, WSOL.toBase58(), a.publicKey.toBase58(), '3000000', '0.003']]);
  assert.ok(told.meta.innerInstructions.some((i) => i.index === 0 && i.instructions.length > 1));
  await assert.rejects(c.getTransaction(wrapped), /Transaction version \(0\) is not supported/);

  // Accounts of tokens.
  assert.equal((await c.getAccountInfo(WSOL)).data.length, 82);
  assert.deepEqual((await c.getMultipleAccountsInfo([WSOL, w3.Keypair.generate().publicKey])).map((x) => x && x.owner.toBase58()), [TOKEN.toBase58(), null]);
  assert.equal((await c.getTokenAccountBalance(at)).value.amount, '3000000');
  assert.deepEqual((await c.getTokenAccountsByOwner(a.publicKey, { mint: WSOL })).value.map((x) => x.pubkey.toBase58()), [at.toBase58()]);
  assert.ok((await c.getTokenLargestAccounts(WSOL)).value.some((x) => x.address.equals(at)));
  assert.equal((await c.getTokenSupply(WSOL)).value.decimals, 9);
  const mine = await c.getProgramAccounts(TOKEN, { filters: [{ dataSize: 165 }, { memcmp: { offset: 32, bytes: a.publicKey.toBase58() } }], dataSlice: { offset: 64, length: 8 } });
  assert.deepEqual(mine.map((x) => [x.pubkey.toBase58(), x.account.data.readBigUInt64LE()]), [[at.toBase58(), 3_000_000n]]);

  // Blocks.
  const block = await c.getBlock(told.slot, { maxSupportedTransactionVersion: 0 });
  assert.ok(block.transactions.some((t) => t.transaction.signatures[0] === wrapped));
  assert.equal((await c.getBlock(block.parentSlot, { maxSupportedTransactionVersion: 0, transactionDetails: 'none' })).blockhash, block.previousBlockhash);
  assert.ok((await c.getBlockSignatures(told.slot)).signatures.includes(wrapped));
  await assert.rejects(c.getBlock(told.slot + 1_000_000, { maxSupportedTransactionVersion: 0 }), (err) => err.code === -32004);
  const all = await c.getBlocks(first, told.slot);
  // Three calls that it has no function for, through the one by which it makes all others.
  const ask = async (...call) => (await c._rpcRequest(...call)).result;
  assert.deepEqual(await ask('getBlocksWithLimit', [first, 3, { commitment: c.commitment }]), all.slice(0, 3));
  assert.equal(await ask('getHealth', []), 'ok');
  assert.equal(new w3.PublicKey((await ask('getIdentity', [])).identity).toBytes().length, 32);
  const gap = all.findIndex((s, i) => i > 0 && s > all[i - 1] + 1);
  await assert.rejects(c.getBlock(all[gap] - 1, { maxSupportedTransactionVersion: 0 }), (err) => err.code === -32007);
  const signatures = await c.getSignaturesForAddress(a.publicKey);
  assert.equal(signatures[0].signature, wrapped);
  assert.equal(signatures[signatures.length - 1].signature, paidBy);
  assert.deepEqual((await c.getSignaturesForAddress(a.publicKey, { before: wrapped, limit: 1 })).length, 1);
  assert.ok((await c.isBlockhashValid((await c.getLatestBlockhash()).blockhash)).value);
  assert.ok((await c.getRecentPrioritizationFees()).length > 0);
  const stale = new w3.VersionedTransaction(new w3.TransactionMessage({ payerKey: a.publicKey, recentBlockhash: bs58.encode(Buffer.alloc(32, 7)), instructions: tooMuch() }).compileToV0Message());
  stale.sign([a, b]);
  await assert.rejects(c.sendTransaction(stale), /Blockhash not found/);
  console.log('agreed');
}

main().catch((err) => {
  console.error(err);
  process.exit(1);
});
