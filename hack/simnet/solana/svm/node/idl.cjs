// Instructions and events of programs as their own descriptions (IDLs) have them, encoded by Anchor's coder. What isn't given is zero, nothing or an empty text.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { BorshCoder, BN } = require('@coral-xyz/anchor');
const { PublicKey } = require('@solana/web3.js');

// file reads a description that its package doesn't export.
const file = (name, inside) => {
  const at = require.resolve(name);
  return JSON.parse(fs.readFileSync(path.join(at.slice(0, at.lastIndexOf(name) + name.length), inside), 'utf8'));
};

const programs = {
  pump: () => file('@pump-fun/pump-sdk', 'src/idl/pump.json'),
  pumpswap: () => file('@pump-fun/pump-swap-sdk', 'src/idl/pump_amm.json'),
  dbc: () => require('@meteora-ag/dynamic-bonding-curve-sdk').DynamicBondingCurveIdl,
  damm: () => require('@meteora-ag/cp-amm-sdk').CpAmmIdl,
  // Raydium publishes none. These were written from recordings and other people's decoders, by others than who wrote the index.
  launchlab: () => require('./raydium.json').launchlab,
  cpmm: () => require('./raydium.json').cpmm,
  ammv4: () => require('./raydium.json').ammv4,
};
const known = new Map();

function described(name) {
  if (!known.has(name)) {
    if (!Object.hasOwn(programs, name)) throw new Error(`no description of ${name}: there are ${Object.keys(programs).join(', ')}`);
    const idl = programs[name]();
    known.set(name, { idl, coder: new BorshCoder(idl) });
  }
  return known.get(name);
}

// value is a value of a type, as the coder takes it.
function value(type, given, idl) {
  if (typeof type === 'string') {
    switch (type) {
      case 'pubkey': return given === undefined ? PublicKey.default : new PublicKey(given);
      case 'bool': return Boolean(given);
      case 'string': return given === undefined ? '' : String(given);
      case 'u8': case 'u16': case 'u32': case 'i8': case 'i16': case 'i32': return Number(given || 0);
      default: return new BN(given === undefined ? 0 : String(given));
    }
  }
  if (type.option) return given === undefined || given === null ? null : value(type.option, given, idl);
  if (type.vec) return (given || []).map((v) => value(type.vec, v, idl));
  if (type.array) return Array.from({ length: type.array[1] }, (_, i) => value(type.array[0], given && given[i], idl));
  if (type.defined) return struct(type.defined.name, given, idl);
  throw new Error('a type that is not known: ' + JSON.stringify(type));
}

function fields(list, given, idl) {
  given = given && typeof given === 'object' ? given : {};
  for (const name of Object.keys(given)) {
    if (!list.some((f) => f.name === name)) throw new Error(`there is no ${name}: there are ${list.map((f) => f.name).join(', ')}`);
  }
  return Object.fromEntries(list.map((f) => [f.name, value(f.type, given[f.name], idl)]));
}

function struct(name, given, idl) {
  const { type } = idl.types.find((t) => t.name === name);
  if (type.kind === 'enum') { // a variant's name, or an object with its fields under that
    const variant = given === undefined ? type.variants[0].name : typeof given === 'string' ? given : Object.keys(given)[0];
    const found = type.variants.find((v) => v.name === variant);
    if (!found) throw new Error(`${name} is none of ${type.variants.map((v) => v.name).join(', ')}`);
    return { [variant]: fields(found.fields || [], given && given[variant], idl) };
  }
  if (!type.fields) return {};
  if (type.fields.length && typeof type.fields[0] === 'string') return type.fields.map((t, i) => value(t, given && given[i], idl)); // a tuple
  return fields(type.fields, given, idl);
}

// seed is the bytes of a seed of an address, or undefined where it depends on what isn't known.
function seed(s, keys, args) {
  if (s.kind === 'const') return Buffer.from(s.value);
  if (s.kind === 'account') return keys.has(s.path) ? new PublicKey(keys.get(s.path)).toBuffer() : undefined;
  if (s.kind === 'arg' && Number.isInteger(args[s.path])) return Buffer.from([args[s.path] & 0xff, args[s.path] >> 8]); // the only ones that there are have 16 bits
  return undefined;
}

// addresses gives every account of an instruction an address: the given one, the fixed one, the one that its seeds make; one that is left out stays the program's own
// where it may be left out, and else is made of its name.
function addresses({ idl, found, given, args }) {
  const keys = new Map(Object.entries(given));
  for (const name of keys.keys()) {
    if (!found.accounts.some((a) => a.name === name)) throw new Error(`${found.name} has no account ${name}: it has ${found.accounts.map((a) => a.name).join(', ')}`);
  }
  const own = new PublicKey(idl.address);
  for (const a of found.accounts) {
    if (keys.has(a.name)) continue;
    if (a.address) keys.set(a.name, a.address);
    else if (a.optional) keys.set(a.name, idl.address);
  }
  for (let more = true; more;) { // seeds may be accounts that stand behind
    more = false;
    for (const a of found.accounts) {
      if (keys.has(a.name) || !a.pda) continue;
      const seeds = a.pda.seeds.map((s) => seed(s, keys, args));
      const program = a.pda.program ? seed(a.pda.program, keys, args) : own.toBuffer();
      if (!program || seeds.some((s) => s === undefined)) continue;
      keys.set(a.name, PublicKey.findProgramAddressSync(seeds, new PublicKey(program))[0].toBase58());
      more = true;
    }
  }
  for (const a of found.accounts) {
    if (!keys.has(a.name)) keys.set(a.name, PublicKey.findProgramAddressSync([Buffer.from(a.name)], own)[0].toBase58());
  }
  return keys;
}

// encoded is a value in the coder's layout. (The coder's own encode has room for 1,000 bytes, and the metadata of tokens here is longer.)
function encoded(layout, v) {
  const buffer = Buffer.alloc(10_000);
  return buffer.subarray(0, layout.encode(v, buffer));
}

// instruction gives an instruction's data, and its accounts in their order: each one's name, address, and whether it signs and is written.
function instruction({ program, name, args, accounts }) {
  const { idl, coder } = described(program);
  const found = idl.instructions.find((i) => i.name === name);
  if (!found) throw new Error(`${program} has no instruction ${name}`);
  const data = Buffer.concat([Buffer.from(found.discriminator), encoded(coder.instruction.ixLayouts.get(name).layout, fields(found.args, args, idl))]);
  const keys = addresses({ idl, found, given: accounts || {}, args: args || {} });
  return {
    program: idl.address, data: data.toString('base64'),
    accounts: found.accounts.map((a) => {
      const left = keys.get(a.name) === idl.address; // left out, or the program itself
      return { name: a.name, signer: Boolean(a.signer) && !left, writable: Boolean(a.writable) && !left, key: keys.get(a.name) };
    }),
  };
}

// bytesOf gives the bytes of a described value. They begin with what says which one they are.
function bytesOf(kind, list) {
  return ({ program, name, fields: given }) => {
    const { idl, coder } = described(program);
    const found = (idl[list] || []).find((e) => e.name === name);
    if (!found) throw new Error(`${program} has no ${kind} ${name}`);
    const body = encoded(coder.types.typeLayouts.get(name), struct(name, given, idl));
    return { program: idl.address, data: Buffer.concat([Buffer.from(found.discriminator), body]).toString('base64') };
  };
}

// event gives the bytes of an event, contents those that an account holds.
module.exports = { instruction, event: bytesOf('event', 'events'), contents: bytesOf('account', 'accounts') };
