// Writes events of programs with random contents, as the programs' own descriptions have them: a line of JSON each, with the fields, the bytes, and the names of
// the accounts of the instructions that tell it. It runs in the folder of the packages; the first argument is a seed. Where "accounts" is the second one, it writes
// what accounts hold instead, and the third one is the file with Raydium's descriptions.
'use strict';

const fs = require('node:fs');
const { BorshCoder, BN } = require('@coral-xyz/anchor');
const { PublicKey } = require('@solana/web3.js');

const idlFile = (path) => JSON.parse(fs.readFileSync(`node_modules/@pump-fun/${path}`, 'utf8')); // not among what the packages export

const programs = {
  pump: idlFile('pump-sdk/src/idl/pump.json'),
  pumpswap: idlFile('pump-swap-sdk/src/idl/pump_amm.json'),
  dbc: require('@meteora-ag/dynamic-bonding-curve-sdk').DynamicBondingCurveIdl,
  damm: require('@meteora-ag/cp-amm-sdk').CpAmmIdl,
};

let state = BigInt(process.argv[2] || 1);
function random(bits) {
  // splitmix64, in pieces of 64 bits
  let out = 0n;
  for (let have = 0; have < bits; have += 64) {
    state = (state + 0x9e3779b97f4a7c15n) & 0xffffffffffffffffn;
    let z = state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & 0xffffffffffffffffn;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & 0xffffffffffffffffn;
    out = (out << 64n) | (z ^ (z >> 31n));
  }
  return out & ((1n << BigInt(bits)) - 1n);
}

function key() {
  const bytes = Buffer.alloc(32);
  for (let i = 0; i < 32; i += 8) bytes.writeBigUInt64LE(random(64), i);
  return new PublicKey(bytes);
}

// value gives a random value of a type, as the encoder takes it and as JSON has it.
function value(type, idl) {
  if (typeof type === 'string') {
    switch (type) {
      case 'pubkey': { const k = key(); return [k, k.toBase58()]; }
      case 'bool': { const b = random(1) === 1n; return [b, b]; }
      case 'string': { const s = 'text ' + random(32).toString(36); return [s, s]; }
      case 'u8': { const n = Number(random(8)); return [n, n]; }
      case 'u16': { const n = Number(random(16)); return [n, n]; }
      case 'u32': { const n = Number(random(32)); return [n, n]; }
    }
    const bits = Number(type.slice(1));
    let n = random(bits);
    if (type[0] === 'i' && n >> BigInt(bits - 1)) n -= 1n << BigInt(bits);
    return [new BN(n.toString()), n.toString()];
  }
  if (type.vec) {
    const list = [value(type.vec, idl), value(type.vec, idl)];
    return [list.map((v) => v[0]), list.map((v) => v[1])];
  }
  if (type.array) {
    const list = Array.from({ length: type.array[1] }, () => value(type.array[0], idl));
    return [list.map((v) => v[0]), list.map((v) => v[1])];
  }
  if (type.option) return random(1) === 1n ? value(type.option, idl) : [null, null];
  if (type.defined) return struct(type.defined.name, idl);
  throw new Error('a type that is not known: ' + JSON.stringify(type));
}

// kinds are fields that have one of few values.
const kinds = new Set(['activation_type', 'change_type', 'collect_fee_mode', 'trade_direction']);

function struct(name, idl) {
  const encoded = {}, plain = {};
  for (const f of idl.types.find((t) => t.name === name).type.fields) {
    let [a, b] = value(f.type, idl);
    if (kinds.has(f.name)) a = b = b % 3;
    encoded[f.name] = a;
    plain[f.name] = b;
  }
  return [encoded, plain];
}

const wanted = {
  pump: ['CreateEvent', 'TradeEvent', 'CompleteEvent', 'CompletePumpAmmMigrationEvent'],
  pumpswap: ['CreatePoolEvent', 'BuyEvent', 'SellEvent', 'DepositEvent', 'WithdrawEvent'],
  dbc: ['EvtInitializePool', 'EvtInitializePoolWithTransferHook', 'EvtSwap', 'EvtSwap2', 'EvtSwap2WithTransferHook', 'EvtCurveComplete', 'EvtCurveCompleteWithTransferHook'],
  damm: ['EvtInitializePool', 'EvtSwap2', 'EvtLiquidityChange'],
};

const wantedAccounts = { pumpswap: ['Pool'], damm: ['Pool'], cpmm: ['PoolState'], ammv4: ['AmmInfo'] };

// encoded are the bytes of a value. The coder's own encode has room for 1,000 bytes, and accounts are longer.
function encoded(coder, name, value) {
  const room = Buffer.alloc(10_000);
  return room.subarray(0, coder.types.typeLayouts.get(name).encode(value, room));
}

// write writes values of a type with random contents.
function write(program, idl, coder, kinds, name) {
  const discriminator = Buffer.from(kinds.find((e) => e.name === name).discriminator);
  for (let n = 0; n < 20; n++) {
    const [value, fields] = struct(name, idl);
    const data = Buffer.concat([discriminator, encoded(coder, name, value)]).toString('base64');
    console.log(JSON.stringify({ program, name, fields, data }));
  }
}

const ofAccounts = process.argv[3] === 'accounts';
if (ofAccounts) Object.assign(programs, JSON.parse(fs.readFileSync(process.argv[4], 'utf8')));
for (const [program, names] of Object.entries(ofAccounts ? wantedAccounts : wanted)) {
  const idl = programs[program];
  const coder = new BorshCoder(idl);
  const accounts = {}, instructions = {};
  for (const i of idl.instructions) {
    accounts[i.name] = i.accounts.map((a) => a.name);
    instructions[i.name] = Buffer.from(i.discriminator).toString('base64');
  }
  console.log(JSON.stringify({ program, address: idl.address, accounts, instructions }));
  for (const name of names) write(program, idl, coder, ofAccounts ? idl.accounts : idl.events, name);
}
