// A stand-in for the plugin Yellowstone gRPC of Solana's nodes: it streams the chain's blocks and slots. What it sends is encoded by the code that the plugin's
// makers publish for their client.
'use strict';

const grpc = require('@grpc/grpc-js');
const plugin = require('@triton-one/yellowstone-grpc');
const { bs58 } = require('@coral-xyz/anchor').utils.bytes;

const { CommitmentLevel, SlotStatus } = plugin;
const PING_EVERY = 10_000;

// The first kinds of an instruction's error, in the order of the runtime's InstructionError; a program's own number is of kind CUSTOM.
const KINDS = [
  'GenericError', 'InvalidArgument', 'InvalidInstructionData', 'InvalidAccountData', 'AccountDataTooSmall', 'InsufficientFunds', 'IncorrectProgramId',
  'MissingRequiredSignature', 'AccountAlreadyInitialized', 'UninitializedAccount',
];
const CUSTOM = 25;

// failureOf is an instruction's error in the runtime's own encoding (bincode). Kinds that aren't in the list are told as the first one.
function failureOf({ InstructionError: [at, why] = [0, ''] }) {
  const custom = typeof why === 'object';
  const out = Buffer.alloc(custom ? 13 : 9);
  out.writeUInt32LE(8, 0);
  out.writeUInt8(at, 4);
  out.writeUInt32LE(custom ? CUSTOM : Math.max(0, KINDS.indexOf(why)), 5);
  if (custom) out.writeUInt32LE(why.Custom, 9);
  return { err: out };
}

const tokenBalance = (b) => ({
  accountIndex: b.accountIndex, mint: b.mint, owner: b.owner || '', programId: b.programId || '',
  uiTokenAmount: { uiAmount: Number(b.uiTokenAmount.uiAmountString), decimals: b.uiTokenAmount.decimals, amount: b.uiTokenAmount.amount, uiAmountString: b.uiTokenAmount.uiAmountString },
});

const instruction = (i) => ({
  programIdIndex: i.programIdIndex, accounts: Uint8Array.from(i.accounts), data: bs58.decode(i.data), ...(i.stackHeight ? { stackHeight: i.stackHeight } : {}),
});

// transactionOf is a transaction that a node tells in JSON (getBlock's encoding "json"), at its place in the block.
function transactionOf({ transaction, meta, version }, place) {
  const { message, signatures } = transaction;
  return {
    signature: bs58.decode(signatures[0]), isVote: false, index: String(place),
    transaction: {
      signatures: signatures.map((s) => bs58.decode(s)),
      message: {
        header: message.header, accountKeys: message.accountKeys.map((k) => bs58.decode(k)), recentBlockhash: bs58.decode(message.recentBlockhash),
        instructions: message.instructions.map(instruction), versioned: version !== undefined && version !== 'legacy',
        addressTableLookups: (message.addressTableLookups || []).map((l) => ({
          accountKey: bs58.decode(l.accountKey), writableIndexes: Uint8Array.from(l.writableIndexes), readonlyIndexes: Uint8Array.from(l.readonlyIndexes),
        })),
      },
    },
    meta: {
      err: meta.err ? failureOf(meta.err) : undefined, fee: String(meta.fee), preBalances: meta.preBalances.map(String), postBalances: meta.postBalances.map(String),
      innerInstructions: (meta.innerInstructions || []).map((i) => ({ index: i.index, instructions: i.instructions.map(instruction) })),
      innerInstructionsNone: !meta.innerInstructions, logMessages: meta.logMessages || [], logMessagesNone: !meta.logMessages,
      preTokenBalances: (meta.preTokenBalances || []).map(tokenBalance), postTokenBalances: (meta.postTokenBalances || []).map(tokenBalance), rewards: [],
      loadedWritableAddresses: (meta.loadedAddresses ? meta.loadedAddresses.writable : []).map((k) => bs58.decode(k)),
      loadedReadonlyAddresses: (meta.loadedAddresses ? meta.loadedAddresses.readonly : []).map((k) => bs58.decode(k)),
      returnData: meta.returnData ? { programId: bs58.decode(meta.returnData.programId), data: Buffer.from(meta.returnData.data[0], 'base64') } : undefined,
      returnDataNone: !meta.returnData, computeUnitsConsumed: meta.computeUnitsConsumed === undefined ? undefined : String(meta.computeUnitsConsumed),
    },
  };
}

// blockOf is a block that a node tells by getBlock, as the plugin sends it.
function blockOf(slot, told) {
  return {
    slot: String(slot), blockhash: told.blockhash, parentSlot: String(told.parentSlot), parentBlockhash: told.previousBlockhash,
    blockTime: told.blockTime === null ? undefined : { timestamp: String(told.blockTime) },
    blockHeight: { blockHeight: String(told.blockHeight) }, rewards: { rewards: [], numPartitions: undefined },
    executedTransactionCount: String(told.transactions.length), transactions: told.transactions.map(transactionOf),
    updatedAccountCount: '0', accounts: [], entriesCount: '0', entries: [],
  };
}

const update = (filters, contents) => ({ filters, createdAt: new Date(), ...contents });

// Geyser serves a chain; told gives a slot's block in JSON.
class Geyser {
  constructor(chain, told, token) {
    this.chain = chain;
    this.told = told;
    this.token = token;
    this.readers = new Set();
    this.server = new grpc.Server({ 'grpc.max_send_message_length': -1 });
    const unary = (answer) => (call, done) => {
      if (!this.knows(call)) return done(this.refused());
      return done(null, answer(call.request));
    };
    const methods = {
      GetVersion: [plugin.GetVersionRequest, plugin.GetVersionResponse, unary(() => ({ version: JSON.stringify({ version: { package: 'a stand-in' } }) }))],
      Ping: [plugin.PingRequest, plugin.PongResponse, unary(({ count }) => ({ count }))],
      GetSlot: [plugin.GetSlotRequest, plugin.GetSlotResponse, unary((q) => ({ slot: String(this.newest(q.commitment).slot) }))],
      GetBlockHeight: [plugin.GetBlockHeightRequest, plugin.GetBlockHeightResponse, unary((q) => ({ blockHeight: String(this.newest(q.commitment).height) }))],
      GetLatestBlockhash: [plugin.GetLatestBlockhashRequest, plugin.GetLatestBlockhashResponse, unary((q) => {
        const b = this.newest(q.commitment);
        return { slot: String(b.slot), blockhash: b.hash, lastValidBlockHeight: String(b.height + 150) };
      })],
      IsBlockhashValid: [plugin.IsBlockhashValidRequest, plugin.IsBlockhashValidResponse, unary((q) => ({
        slot: String(this.newest(q.commitment).slot), valid: chain.hashes().has(q.blockhash),
      }))],
      Subscribe: [plugin.SubscribeRequest, plugin.SubscribeUpdate, (call) => this.subscribe(call)],
    };
    const service = {}, handlers = {};
    for (const [name, [request, answer, handle]] of Object.entries(methods)) {
      const streams = name === 'Subscribe';
      service[name] = {
        path: `/geyser.Geyser/${name}`, requestStream: streams, responseStream: streams,
        requestSerialize: (m) => Buffer.from(request.encode(m).finish()), requestDeserialize: (b) => request.decode(b),
        responseSerialize: (m) => Buffer.from(answer.encode(m).finish()), responseDeserialize: (b) => answer.decode(b),
      };
      handlers[name] = handle;
    }
    this.server.addService(service, handlers);
    setInterval(() => this.readers.forEach((r) => r.call.write(update([], { ping: {} }))), PING_EVERY).unref();
  }

  listen() {
    return new Promise((done, failed) => {
      this.server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (err, port) => (err ? failed(err) : done(port)));
    });
  }

  knows(call) {
    return !this.token || call.metadata.get('x-token')[0] === this.token;
  }

  refused() {
    return { code: grpc.status.UNAUTHENTICATED, details: 'No valid auth token' };
  }

  newest(commitment) {
    return this.chain.block(commitment === CommitmentLevel.FINALIZED ? 'finalized' : 'confirmed');
  }

  // subscribe streams to a reader what its last request asks for, until it ends.
  subscribe(call) {
    if (!this.knows(call)) return call.destroy(Object.assign(new Error('refused'), this.refused()));
    const reader = { call, asked: undefined };
    call.on('data', (request) => {
      if (request.ping) call.write(update([], { pong: { id: request.ping.id } }));
      else reader.asked = request;
    });
    const end = () => this.readers.delete(reader);
    call.on('end', () => { end(); call.end(); });
    call.on('error', end);
    call.on('cancelled', end);
    this.readers.add(reader);
    return undefined;
  }

  // mined tells readers of a new block, and of the one that it makes final.
  mined(block) {
    if (this.readers.size === 0) return;
    const final = this.chain.block('finalized');
    for (const r of this.readers) {
      if (!r.asked) continue;
      const ofFinal = r.asked.commitment === CommitmentLevel.FINALIZED;
      const sent = ofFinal ? final : block;
      const slots = Object.keys(r.asked.slots), blocks = Object.keys(r.asked.blocks), metas = Object.keys(r.asked.blocksMeta);
      if (slots.length > 0) {
        r.call.write(update(slots, { slot: { slot: String(sent.slot), parent: String(sent.parentSlot), status: ofFinal ? SlotStatus.SLOT_FINALIZED : SlotStatus.SLOT_CONFIRMED } }));
      }
      const whole = blockOf(sent.slot, this.told(sent.slot));
      if (metas.length > 0) r.call.write(update(metas, { blockMeta: whole }));
      for (const name of blocks) {
        const { includeTransactions } = r.asked.blocks[name];
        r.call.write(update([name], { block: includeTransactions === false ? { ...whole, transactions: [] } : whole }));
      }
    }
  }
}

module.exports = { Geyser, blockOf, plugin };
