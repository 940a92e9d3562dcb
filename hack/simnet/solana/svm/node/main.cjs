// A node of a local Solana: Solana's runtime (litesvm), with blocks made of what it executes, served over the JSON-RPC that Solana's nodes have.
// Its packages are found by NODE_PATH; the first argument is its options as JSON: port, genesis (a text), slot (of the first block), time (of the first
// block, in seconds) and keep (how many blocks are kept; 0 keeps all). It prints where it listens.
'use strict';

const http = require('node:http');
const zlib = require('node:zlib');
const { Chain, Refusal } = require('./chain.cjs');
const reading = require('./reading.cjs');
const idl = require('./idl.cjs');

const options = JSON.parse(process.argv[2]);
const chain = new Chain(options);

let geyser;

// stream starts the stand-in for Yellowstone gRPC, once, and gives its port. Readers have to have the token, where there is one.
async function stream({ token } = {}) {
  if (!geyser) {
    const { Geyser } = require('./geyser.cjs'); // its packages are loaded where somebody wants it
    const told = (slot) => reading.methods.getBlock(chain, slot, { commitment: 'confirmed', encoding: 'json', maxSupportedTransactionVersion: 1, rewards: false });
    geyser = new Geyser(chain, told, token);
    geyser.port = geyser.listen();
  }
  return geyser.port;
}

function mine(p) {
  const mined = chain.mine(p);
  if (geyser) geyser.mined(chain.head);
  return mined;
}

// Methods that a real node doesn't have: tests and the local world make blocks, take them back, and encode instructions and events with them.
const making = {
  simnet_mine: mine,
  simnet_geyser: stream,
  simnet_revert: (slot) => chain.revert(slot),
  simnet_addProgram: (key, elf) => chain.addProgram(key, Buffer.from(elf, 'base64')),
  simnet_setAccount: (key, account) => chain.setAccount(key, account),
  simnet_instruction: (p) => idl.instruction(p),
  simnet_event: (p) => idl.event(p),
  simnet_contents: (p) => idl.contents(p),
};

async function answer(call) {
  const out = { jsonrpc: '2.0', id: call && call.id !== undefined ? call.id : null };
  const name = String(call && call.method);
  const method = Object.hasOwn(making, name) ? making[name] : Object.hasOwn(reading.methods, name) ? reading.methods[name] : undefined;
  try {
    if (!method) throw new Refusal(-32601, 'Method not found');
    const params = call.params === undefined ? [] : call.params;
    if (!Array.isArray(params)) throw new Refusal(-32602, 'Invalid params: a list is wanted');
    const result = await (method === making[name] ? method(...params) : method(chain, ...params));
    out.result = result === undefined ? null : result;
  } catch (err) {
    if (!(err instanceof Refusal)) console.error(name, err);
    out.error = err instanceof Refusal ? err.told() : { code: -32603, message: String(err && err.message) };
  }
  return out;
}

// inTurn answers calls one after the other.
async function inTurn(calls) {
  const out = [];
  for (const call of calls) out.push(await answer(call));
  return out;
}

const json = (v) => JSON.stringify(v, (_, x) => (typeof x === 'bigint' ? Number(x) : x));

const server = http.createServer((request, response) => {
  if (request.method === 'GET' && request.url === '/health') return response.end('ok');
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', async () => {
    let body;
    try {
      const asked = JSON.parse(Buffer.concat(parts).toString('utf8'));
      body = json(await (Array.isArray(asked) ? inTurn(asked) : answer(asked)));
    } catch (err) {
      body = json({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } });
    }
    response.setHeader('content-type', 'application/json; charset=utf-8');
    if (body.length > 1000 && /\bgzip\b/.test(request.headers['accept-encoding'] || '')) {
      response.setHeader('content-encoding', 'gzip');
      response.end(zlib.gzipSync(body, { level: 1 }));
      return;
    }
    response.end(body);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(options.port, '127.0.0.1', () => console.log(`Listening on 127.0.0.1:${server.address().port}`));
