// The chain: accounts in Solana's runtime, transactions that it executes, and blocks of these, which can be taken back.
'use strict';

const crypto = require('node:crypto');
const { LiteSvm, Account, Clock } = require('litesvm-linux-x64-gnu');
const { PublicKey, VersionedTransaction } = require('@solana/web3.js');
const { bs58 } = require('@coral-xyz/anchor').utils.bytes;

const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

// A block is final when FINAL_DEPTH blocks are above it. A transaction may name the hash of one of the newest HASHES blocks.
const FINAL_DEPTH = 32;
const HASHES = 150;
const SLOTS_PER_EPOCH = 432_000;

// Refusal is an error of JSON-RPC.
class Refusal extends Error {
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
  told() {
    return this.data === undefined ? { code: this.code, message: this.message } : { code: this.code, message: this.message, data: this.data };
  }
}

const hash = (...parts) => bs58.encode(crypto.createHash('sha256').update(parts.join(' ')).digest());

function key(text) {
  try {
    return new PublicKey(text).toBytes();
  } catch (err) {
    throw new Refusal(-32602, `Invalid param: ${text} is no key`);
  }
}

// told is an account of the runtime; one without lamports isn't there.
function told(account) {
  if (!account || account.lamports() === 0n) return null;
  return {
    lamports: account.lamports(), owner: bs58.encode(account.owner()), data: Buffer.from(account.data()), executable: account.executable(), rentEpoch: account.rentEpoch(),
  };
}

// tokenAccount is what an account of a token program says, or null.
function tokenAccount(account) {
  if (!account || (account.owner !== TOKEN && account.owner !== TOKEN_2022)) return null;
  const d = account.data;
  if (d.length < 165 || (d.length > 165 && d[165] !== 2) || d[108] === 0) return null;
  return { mint: bs58.encode(d.subarray(0, 32)), owner: bs58.encode(d.subarray(32, 64)), amount: d.readBigUInt64LE(64), program: account.owner };
}

// decimalText is a number of base units as a decimal.
function decimalText(amount, decimals) {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const rest = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return rest ? `${whole}.${rest}` : whole;
}

function uiAmount(amount, decimals) {
  const text = decimalText(amount, decimals);
  return { amount: amount.toString(), decimals, uiAmount: Number(text), uiAmountString: text };
}

// failure is a transaction's error as nodes tell it, out of how the runtime prints it: InstructionError(0, Custom(1)), BlockhashNotFound.
function failure(result) {
  const text = /err: (.*), meta: TransactionMetadata/s.exec(result.toString())[1];
  const inner = /^InstructionError\((\d+), (.*)\)$/s.exec(text);
  if (inner) {
    const custom = /^Custom\((\d+)\)$/.exec(inner[2]);
    return { InstructionError: [Number(inner[1]), custom ? { Custom: Number(custom[1]) } : inner[2]] };
  }
  const indexed = /^(\w+)\((\d+)\)$/.exec(text);
  if (indexed) return { [indexed[1]]: Number(indexed[2]) };
  const named = /^(\w+) \{ (\w+): (\d+) \}$/.exec(text);
  return named ? { [named[1]]: { [named[2]]: Number(named[3]) } } : text;
}

// failed reports whether the runtime refused a transaction, or executed it and undid it.
const failed = (result) => typeof result.err === 'function';

class Chain {
  constructor({ genesis = 'local', slot = 1, time = 0, keep = 0 }) {
    this.svm = new LiteSvm();
    this.svm.setTransactionHistory(0n);
    this.svm.setBlockhashCheck(false); // blocks have hashes of their own
    this.svm.withNativeMints();
    this.genesis = hash('genesis', genesis);
    this.keep = keep;
    this.blocks = []; // oldest first
    this.places = new Map(); // blocks by their slots
    this.signatures = new Map(); // transactions by their first signature
    this.pending = [];
    this.before = new Map(); // what accounts were that are changed in the block being made; null where there was none
    this.decimals = new Map();
    this.made = 0;
    this.mine({ slot, time });
  }

  get head() {
    return this.blocks[this.blocks.length - 1];
  }

  // block is the newest one of a commitment.
  block(commitment) {
    return commitment === undefined || commitment === 'finalized' ? this.blocks[Math.max(0, this.blocks.length - 1 - FINAL_DEPTH)] : this.head;
  }

  // account is what an account was at the end of a block (the newest one where none is given).
  account(text, block = this.head) {
    // A block tells what its accounts were before it; the oldest one after the block decides.
    if (block !== this.head) {
      const next = this.blocks.find((b) => b.slot > block.slot && b.before.has(text));
      if (next) return next.before.get(text);
    }
    return told(this.svm.getAccount(key(text)));
  }

  // programAccounts are the accounts that a program owns at the end of a block, by their keys.
  programAccounts(program, block = this.head) {
    const out = new Map();
    for (const a of this.svm.getProgramAccounts(key(program))) {
      const account = told(a.account());
      if (account) out.set(bs58.encode(a.address), account);
    }
    for (let i = this.blocks.length - 1; i >= 0 && this.blocks[i].slot > block.slot; i--) {
      for (const [text, account] of this.blocks[i].before) {
        if (account && account.owner === program) out.set(text, account);
        else out.delete(text);
      }
    }
    return out;
  }

  decimalsOf(mint) {
    if (!this.decimals.has(mint)) {
      const account = this.account(mint);
      if (!account) return 0;
      this.decimals.set(mint, account.data[44]);
    }
    return this.decimals.get(mint);
  }

  // remember keeps what an account was before the block that is being made.
  remember(text) {
    if (!this.before.has(text)) this.before.set(text, told(this.svm.getAccount(key(text))));
  }

  put(text, account) {
    const a = account || { lamports: 0n, data: Buffer.alloc(0), owner: '11111111111111111111111111111111', executable: false, rentEpoch: 0n };
    this.svm.setAccount(key(text), new Account(BigInt(a.lamports), a.data, key(a.owner), a.executable, BigInt(a.rentEpoch)));
  }

  setAccount(text, { lamports, owner, data, executable = false }) {
    this.remember(text);
    this.put(text, { lamports, owner, data: Buffer.from(data || '', 'base64'), executable, rentEpoch: 0n });
  }

  addProgram(text, elf) {
    this.svm.addProgram(key(text), elf);
  }

  // read is a transaction out of its bytes.
  read(raw) {
    try {
      return VersionedTransaction.deserialize(raw);
    } catch (err) {
      throw new Refusal(-32602, `failed to deserialize transaction: ${err.message}`);
    }
  }

  // loaded are the keys that a transaction takes from lookup tables.
  loaded(message) {
    const out = { writable: [], readonly: [] };
    for (const lookup of message.addressTableLookups || []) {
      const table = this.account(lookup.accountKey.toBase58());
      if (!table) continue; // the runtime refuses it
      const at = (i) => bs58.encode(table.data.subarray(56 + 32 * i, 88 + 32 * i));
      out.writable.push(...lookup.writableIndexes.map(at));
      out.readonly.push(...lookup.readonlyIndexes.map(at));
    }
    return out;
  }

  // check refuses a transaction that no block may have.
  check(tx, hashes) {
    const signature = bs58.encode(tx.signatures[0]);
    if (this.signatures.has(signature)) throw new Refusal(-32002, 'Transaction simulation failed: This transaction has already been processed', { err: 'AlreadyProcessed' });
    if (!hashes.has(tx.message.recentBlockhash)) throw new Refusal(-32002, 'Transaction simulation failed: Blockhash not found', { err: 'BlockhashNotFound' });
    return signature;
  }

  hashes() {
    return new Set(this.blocks.slice(-HASHES).map((b) => b.hash));
  }

  // send takes a transaction for the next block.
  send(raw, { skipPreflight = false } = {}) {
    const tx = this.read(raw);
    const signature = this.check(tx, this.hashes());
    if (!skipPreflight) {
      const result = this.svm.simulateVersionedTransaction(raw);
      if (failed(result)) {
        const err = failure(result);
        throw new Refusal(-32002, `Transaction simulation failed: ${JSON.stringify(err)}`, { err, logs: result.meta().logs() });
      }
    }
    this.pending.push(raw);
    return signature;
  }

  simulate(raw, { sigVerify = false, replaceRecentBlockhash = false, accounts, innerInstructions = false } = {}) {
    const tx = this.read(raw);
    let err = null;
    if (!replaceRecentBlockhash && !this.hashes().has(tx.message.recentBlockhash)) err = 'BlockhashNotFound';
    if (err) return { err, logs: [], accounts: null, unitsConsumed: 0, returnData: null };
    this.svm.setSigverify(sigVerify);
    let result;
    try {
      result = this.svm.simulateVersionedTransaction(raw);
    } finally {
      this.svm.setSigverify(true);
    }
    const meta = result.meta();
    const after = new Map(failed(result) ? [] : result.postAccounts().map((a) => [bs58.encode(a.address), told(a.account())]));
    return {
      err: failed(result) ? failure(result) : null, logs: meta.logs(), unitsConsumed: Number(meta.computeUnitsConsumed()), returnData: returned(meta),
      accounts: accounts ? accounts.addresses.map((a) => (after.has(a) ? after.get(a) : this.account(a))) : null,
      ...(innerInstructions ? { innerInstructions: inner(meta) } : {}),
    };
  }

  balances(keys) {
    const lamports = [], tokens = [];
    keys.forEach((text, accountIndex) => {
      const account = told(this.svm.getAccount(key(text)));
      lamports.push(account ? Number(account.lamports) : 0);
      const t = tokenAccount(account);
      if (t) tokens.push({ accountIndex, mint: t.mint, owner: t.owner, programId: t.program, uiTokenAmount: uiAmount(t.amount, this.decimalsOf(t.mint)) });
    });
    return [lamports, tokens];
  }

  // execute has the runtime execute a transaction, and gives what a block tells of it.
  execute(raw, hashes) {
    const tx = this.read(raw);
    const signature = this.check(tx, hashes);
    const loaded = this.loaded(tx.message);
    const own = tx.message.staticAccountKeys.map((k) => k.toBase58());
    const keys = [...own, ...loaded.writable, ...loaded.readonly];
    keys.forEach((text, i) => {
      if (i >= own.length ? i < own.length + loaded.writable.length : tx.message.isAccountWritable(i)) this.remember(text);
    });
    const [preBalances, preTokenBalances] = this.balances(keys);
    const result = this.svm.sendVersionedTransaction(raw);
    const meta = failed(result) ? result.meta() : result;
    const err = failed(result) ? failure(result) : null;
    const [postBalances, postTokenBalances] = this.balances(keys);
    const fee = preBalances[0] - postBalances[0];
    if (err && fee === 0) throw new Refusal(-32002, `Transaction simulation failed: ${JSON.stringify(err)}`, { err }); // it was refused, not executed
    return {
      signature, raw, tx, keys, meta: {
        err, status: err ? { Err: err } : { Ok: null }, fee: 5000 * tx.signatures.length, preBalances, postBalances, innerInstructions: inner(meta),
        logMessages: meta.logs(), preTokenBalances, postTokenBalances, rewards: [], loadedAddresses: loaded, computeUnitsConsumed: Number(meta.computeUnitsConsumed()),
        ...(returned(meta) ? { returnData: returned(meta) } : {}),
      },
    };
  }

  // mine makes a block of the transactions that were sent and of these, and tells what became of each of these. Slots between the head's and its own have no block.
  mine({ slot, time, transactions = [] } = {}) {
    const last = this.head;
    slot = slot === undefined ? last.slot + 1 : slot;
    time = time === undefined ? last.time : time;
    if (last && slot <= last.slot) throw new Refusal(-32602, `slot ${slot} isn't after the head's, ${last.slot}`);
    this.setClock(slot, time);
    const block = {
      slot, time, height: last ? last.height + 1 : 0, parentSlot: last ? last.slot : slot - 1, parentHash: last ? last.hash : hash('none', this.genesis), txs: [],
    };
    const hashes = this.hashes(), results = [];
    const run = (raw) => {
      const done = this.execute(raw, hashes);
      this.signatures.set(done.signature, { block, at: block.txs.length });
      block.txs.push(done);
      return { signature: done.signature, err: done.meta.err, logs: done.meta.err ? done.meta.logMessages : undefined };
    };
    for (const raw of this.pending.splice(0)) {
      try {
        run(raw);
      } catch (err) {
        if (!(err instanceof Refusal)) throw err; // what no block may have is forgotten, as nodes do
      }
    }
    for (const text of transactions) {
      try {
        results.push(run(Buffer.from(text, 'base64')));
      } catch (err) {
        if (!(err instanceof Refusal)) throw err;
        results.push({ refused: err.message });
      }
    }
    this.made++;
    block.hash = hash(block.parentHash, slot, time, this.made, ...block.txs.map((t) => t.signature));
    block.before = this.before;
    this.before = new Map();
    this.blocks.push(block);
    this.places.set(slot, block);
    if (this.keep && this.blocks.length > this.keep) this.forget(this.blocks.shift());
    this.tellSlots();
    return { slot, blockhash: block.hash, results };
  }

  // setClock sets the slot and the time that programs see.
  setClock(slot, time) {
    const epoch = Math.floor(slot / SLOTS_PER_EPOCH);
    this.svm.setClock(new Clock(BigInt(slot), 0n, BigInt(epoch), BigInt(epoch + 1), BigInt(time)));
  }

  // tellSlots tells programs of the newest slots, which lookup tables are made with.
  tellSlots() {
    this.svm.setSlotHashes(this.blocks.slice(-64).reverse().map((b) => ({ slot: BigInt(b.slot), hash: b.hash })));
  }

  forget(block) {
    this.places.delete(block.slot);
    for (const t of block.txs) this.signatures.delete(t.signature);
  }

  // revert takes back every block after a slot, as if it had never been.
  revert(slot) {
    if (this.blocks[0].slot > slot) throw new Refusal(-32602, `there is no block at or before slot ${slot}`);
    const back = (before) => {
      for (const [text, account] of before) this.put(text, account);
    };
    back(this.before);
    this.before = new Map();
    while (this.head.slot > slot) {
      const block = this.blocks.pop();
      back(block.before);
      this.forget(block);
    }
    this.decimals.clear();
    this.setClock(this.head.slot, this.head.time);
    this.tellSlots();
    return this.head.slot;
  }
}

const inner = (meta) => meta.innerInstructions().map((list, index) => ({
  index, instructions: list.map((i) => ({
    programIdIndex: i.instruction().programIdIndex(), accounts: [...i.instruction().accounts()], data: bs58.encode(Buffer.from(i.instruction().data())), stackHeight: i.stackHeight(),
  })),
})).filter((i) => i.instructions.length > 0);

function returned(meta) {
  const data = Buffer.from(meta.returnData().data());
  return data.length ? { programId: bs58.encode(meta.returnData().programId()), data: [data.toString('base64'), 'base64'] } : null;
}

module.exports = { Chain, Refusal, FINAL_DEPTH, SLOTS_PER_EPOCH, TOKEN, TOKEN_2022, tokenAccount, uiAmount, key, bs58 };
