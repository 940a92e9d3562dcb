// The calls by which a node of Solana is read, as https://solana.com/docs/rpc describes them. Each takes the chain and the call's parameters.
'use strict';

const { Refusal, FINAL_DEPTH, SLOTS_PER_EPOCH, TOKEN, TOKEN_2022, tokenAccount, uiAmount, key, bs58 } = require('./chain.cjs');

const options = (o) => (o && typeof o === 'object' ? o : {});
const context = (block) => ({ apiVersion: '3.0.0', slot: block.slot });

// at is the block that a call is answered for.
function at(chain, o) {
  const { commitment, minContextSlot } = options(o);
  const block = chain.block(commitment);
  if (minContextSlot > block.slot) throw new Refusal(-32016, 'Minimum context slot has not been reached', { contextSlot: block.slot });
  return block;
}

// shown is an account as a call wants it.
function shown(account, o) {
  if (!account) return null;
  const { encoding = 'binary', dataSlice } = options(o);
  if (!['base64', 'base58', 'binary'].includes(encoding)) throw new Refusal(-32602, `Invalid params: this node has no encoding ${encoding}`);
  const data = dataSlice ? account.data.subarray(dataSlice.offset, dataSlice.offset + dataSlice.length) : account.data;
  const text = encoding === 'base64' ? [data.toString('base64'), 'base64'] : encoding === 'base58' ? [bs58.encode(data), 'base58'] : bs58.encode(data);
  return { ...account, data: text, space: account.data.length };
}

function message(tx) {
  const m = tx.message;
  return {
    accountKeys: m.staticAccountKeys.map((k) => k.toBase58()),
    header: m.header,
    recentBlockhash: m.recentBlockhash,
    instructions: m.compiledInstructions.map((i) => ({ programIdIndex: i.programIdIndex, accounts: [...i.accountKeyIndexes], data: bs58.encode(Buffer.from(i.data)), stackHeight: 1 })),
    ...(m.version === 'legacy' ? {} : {
      addressTableLookups: m.addressTableLookups.map((l) => ({ accountKey: l.accountKey.toBase58(), writableIndexes: l.writableIndexes, readonlyIndexes: l.readonlyIndexes })),
    }),
  };
}

function transaction(t, { encoding = 'json', maxSupportedTransactionVersion }) {
  const version = t.tx.message.version;
  if (version !== 'legacy' && !(maxSupportedTransactionVersion >= version)) {
    throw new Refusal(-32015, `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`);
  }
  let shown;
  switch (encoding) {
    case 'json': shown = { signatures: t.tx.signatures.map((s) => bs58.encode(s)), message: message(t.tx) }; break;
    case 'base64': shown = [t.raw.toString('base64'), 'base64']; break;
    case 'base58': shown = [bs58.encode(t.raw), 'base58']; break;
    default: throw new Refusal(-32602, `Invalid params: this node has no encoding ${encoding}`);
  }
  return { transaction: shown, meta: t.meta, ...(maxSupportedTransactionVersion === undefined ? {} : { version }) };
}

// blockOf is the block of a slot, as far as a commitment has it.
function blockOf(chain, slot, commitment) {
  if (commitment === 'processed') throw new Refusal(-32602, 'Method does not support commitment below `confirmed`');
  if (slot > chain.block(commitment).slot) throw new Refusal(-32004, `Block not available for slot ${slot}`);
  const first = chain.blocks[0].slot;
  if (slot < first) throw new Refusal(-32001, `Block ${slot} cleaned up, does not exist on node. First available block: ${first}`);
  const block = chain.places.get(slot);
  if (!block) throw new Refusal(-32007, `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`);
  return block;
}

function slots(chain, from, to, limit, commitment) {
  const last = chain.block(commitment).slot;
  return chain.blocks.filter((b) => b.slot >= from && b.slot <= Math.min(to, last)).slice(0, limit).map((b) => b.slot);
}

function matches(account, filters = []) {
  return filters.every((f) => {
    if (f.dataSize !== undefined) return account.data.length === f.dataSize;
    if (f.memcmp) {
      const bytes = f.memcmp.encoding === 'base64' ? Buffer.from(f.memcmp.bytes, 'base64') : Buffer.from(bs58.decode(f.memcmp.bytes));
      return account.data.subarray(f.memcmp.offset, f.memcmp.offset + bytes.length).equals(bytes);
    }
    if (f.tokenAccountState) return tokenAccount(account) !== null;
    throw new Refusal(-32602, `Invalid params: no filter ${JSON.stringify(f)}`);
  });
}

// tokenAccounts are those of both token programs that a test takes, in the order of their keys.
function tokenAccounts(chain, block, take, programs = [TOKEN, TOKEN_2022]) {
  const out = [];
  for (const program of programs) {
    for (const [pubkey, account] of chain.programAccounts(program, block)) {
      const t = tokenAccount(account);
      if (t && take(t, account)) out.push({ pubkey, account, token: t });
    }
  }
  return out.sort((a, b) => (a.pubkey < b.pubkey ? -1 : 1));
}

function mintOf(chain, text, block) {
  const account = chain.account(text, block);
  if (!account || ![TOKEN, TOKEN_2022].includes(account.owner) || account.data.length < 82) throw new Refusal(-32602, 'Invalid param: not a Token mint');
  return { supply: account.data.readBigUInt64LE(36), decimals: account.data[44] };
}

const wire = (text, o) => Buffer.from(options(o).encoding === 'base64' ? Buffer.from(text, 'base64') : bs58.decode(text));

const methods = {
  getHealth: () => 'ok',
  getVersion: () => ({ 'solana-core': '3.0.0', 'feature-set': 0 }),
  getGenesisHash: (chain) => chain.genesis,
  getIdentity: () => ({ identity: '11111111111111111111111111111111' }),

  getSlot: (chain, o) => at(chain, o).slot,
  getBlockHeight: (chain, o) => at(chain, o).height,
  getFirstAvailableBlock: (chain) => chain.blocks[0].slot,
  minimumLedgerSlot: (chain) => chain.blocks[0].slot,
  getEpochInfo: (chain, o) => {
    const block = at(chain, o);
    return {
      absoluteSlot: block.slot, blockHeight: block.height, epoch: Math.floor(block.slot / SLOTS_PER_EPOCH), slotIndex: block.slot % SLOTS_PER_EPOCH,
      slotsInEpoch: SLOTS_PER_EPOCH, transactionCount: chain.signatures.size,
    };
  },
  getEpochSchedule: () => ({ slotsPerEpoch: SLOTS_PER_EPOCH, leaderScheduleSlotOffset: SLOTS_PER_EPOCH, warmup: false, firstNormalEpoch: 0, firstNormalSlot: 0 }),

  getBlock: (chain, slot, o) => {
    const { commitment, transactionDetails = 'full', rewards = true, ...how } = options(o);
    const block = blockOf(chain, slot, commitment);
    const out = {
      blockhash: block.hash, previousBlockhash: block.parentHash, parentSlot: block.parentSlot, blockTime: block.time, blockHeight: block.height,
      ...(rewards ? { rewards: [] } : {}),
    };
    switch (transactionDetails) {
      case 'full': out.transactions = block.txs.map((t) => transaction(t, how)); break;
      case 'signatures': out.signatures = block.txs.map((t) => t.signature); break;
      case 'none': break;
      default: throw new Refusal(-32602, `Invalid params: this node has no transactionDetails ${transactionDetails}`);
    }
    return out;
  },
  getBlocks: (chain, from, to, o) => {
    if (to && typeof to === 'object') [to, o] = [undefined, to];
    if (to - from > 500_000) throw new Refusal(-32602, 'Slot range too large; max 500000');
    return slots(chain, from, to === undefined || to === null ? Infinity : to, Infinity, options(o).commitment);
  },
  getBlocksWithLimit: (chain, from, limit, o) => slots(chain, from, Infinity, limit, options(o).commitment),
  getBlockTime: (chain, slot) => blockOf(chain, slot, 'confirmed').time,

  getTransaction: (chain, signature, o) => {
    const { commitment, ...how } = typeof o === 'string' ? { encoding: o } : options(o);
    const found = chain.signatures.get(signature);
    if (!found || found.block.slot > chain.block(commitment).slot) return null;
    return { slot: found.block.slot, blockTime: found.block.time, ...transaction(found.block.txs[found.at], how) };
  },
  getSignaturesForAddress: (chain, text, o) => {
    const { limit = 1000, before, until, commitment } = options(o);
    if (limit < 1 || limit > 1000) throw new Refusal(-32602, 'Invalid limit; max 1000');
    const out = [], last = chain.block(commitment).slot;
    let begun = before === undefined;
    for (const block of [...chain.blocks].reverse()) {
      if (block.slot > last) continue;
      for (const t of [...block.txs].reverse()) {
        if (t.signature === until || out.length === limit) return out;
        if (begun && t.keys.includes(text)) {
          out.push({ signature: t.signature, slot: block.slot, err: t.meta.err, memo: null, blockTime: block.time, confirmationStatus: chain.block('finalized').slot >= block.slot ? 'finalized' : 'confirmed' });
        }
        if (t.signature === before) begun = true;
      }
    }
    return out;
  },
  getSignatureStatuses: (chain, list) => ({
    context: context(chain.head),
    value: list.map((signature) => {
      const found = chain.signatures.get(signature);
      if (!found) return null;
      const { err, status } = found.block.txs[found.at].meta, deep = chain.head.height - found.block.height;
      return { slot: found.block.slot, confirmations: deep >= FINAL_DEPTH ? null : deep, err, status, confirmationStatus: deep >= FINAL_DEPTH ? 'finalized' : 'confirmed' };
    }),
  }),

  getAccountInfo: (chain, text, o) => {
    const block = at(chain, o);
    return { context: context(block), value: shown(chain.account(text, block), o) };
  },
  getMultipleAccounts: (chain, list, o) => {
    if (list.length > 100) throw new Refusal(-32602, `Too many inputs provided; max 100`);
    const block = at(chain, o);
    return { context: context(block), value: list.map((text) => shown(chain.account(text, block), o)) };
  },
  getBalance: (chain, text, o) => {
    const block = at(chain, o), account = chain.account(text, block);
    return { context: context(block), value: account ? account.lamports : 0 };
  },
  getMinimumBalanceForRentExemption: (chain, length) => chain.svm.minimumBalanceForRentExemption(BigInt(length)),
  getProgramAccounts: (chain, program, o) => {
    const block = at(chain, o), { filters, withContext } = options(o);
    const value = [...chain.programAccounts(program, block)].filter(([, a]) => matches(a, filters)).map(([pubkey, account]) => ({ pubkey, account: shown(account, o) }));
    return withContext ? { context: context(block), value } : value;
  },
  getTokenAccountsByOwner: (chain, owner, which, o) => {
    const block = at(chain, o);
    const list = tokenAccounts(chain, block, (t) => t.owner === owner && (!which.mint || t.mint === which.mint), which.programId ? [which.programId] : undefined);
    return { context: context(block), value: list.map(({ pubkey, account }) => ({ pubkey, account: shown(account, o) })) };
  },
  getTokenAccountBalance: (chain, text, o) => {
    const block = at(chain, o), t = tokenAccount(chain.account(text, block));
    if (!t) throw new Refusal(-32602, 'Invalid param: not a Token account');
    return { context: context(block), value: uiAmount(t.amount, mintOf(chain, t.mint, block).decimals) };
  },
  getTokenLargestAccounts: (chain, mint, o) => {
    const block = at(chain, o), { decimals } = mintOf(chain, mint, block);
    const list = tokenAccounts(chain, block, (t) => t.mint === mint).sort((a, b) => (a.token.amount > b.token.amount ? -1 : a.token.amount < b.token.amount ? 1 : 0));
    return { context: context(block), value: list.slice(0, 20).map((a) => ({ address: a.pubkey, ...uiAmount(a.token.amount, decimals) })) };
  },
  getTokenSupply: (chain, mint, o) => {
    const block = at(chain, o), { supply, decimals } = mintOf(chain, mint, block);
    return { context: context(block), value: uiAmount(supply, decimals) };
  },

  getLatestBlockhash: (chain, o) => {
    const block = at(chain, o);
    return { context: context(block), value: { blockhash: block.hash, lastValidBlockHeight: block.height + 150 } };
  },
  isBlockhashValid: (chain, hash, o) => ({ context: context(at(chain, o)), value: chain.hashes().has(hash) }),
  getFeeForMessage: (chain, text, o) => ({ context: context(at(chain, o)), value: 5000 * Buffer.from(text, 'base64')[Buffer.from(text, 'base64')[0] & 0x80 ? 1 : 0] }),
  getRecentPrioritizationFees: (chain) => chain.blocks.slice(-150).map((b) => ({ slot: b.slot, prioritizationFee: 0 })),
  sendTransaction: (chain, text, o) => chain.send(wire(text, o), options(o)),
  simulateTransaction: (chain, text, o) => {
    const value = chain.simulate(wire(text, o), options(o));
    if (value.accounts) value.accounts = value.accounts.map((a) => shown(a, { encoding: options(o).accounts.encoding || 'base64' }));
    return { context: context(chain.head), value };
  },
  requestAirdrop: (chain, text, lamports) => {
    const a = chain.account(text);
    chain.setAccount(text, { lamports: BigInt(a ? a.lamports : 0) + BigInt(lamports), owner: a ? a.owner : '11111111111111111111111111111111', data: a ? a.data.toString('base64') : '' });
    return bs58.encode(Buffer.alloc(64)); // there is no transaction
  },
};

module.exports = { methods };
