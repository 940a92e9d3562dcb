// Loaded before every tool: ends it when it opens a connection that leaves this machine. So no tool tells anybody anything,
// and no client asks the service that it was written for instead of the one that it is tried with.
'use strict';
const net = require('node:net');

const here = ['127.0.0.1', '::1', 'localhost'];
const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  // The arguments may have been put in order before, which makes them one list.
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  const { host, path } = typeof first === 'object' ? first : { host: second };
  if (path || here.includes(host || 'localhost')) {
    return connect.apply(this, args);
  }
  process.stderr.write(`offline: refused a connection to ${host}\n`);
  process.exit(3);
};
