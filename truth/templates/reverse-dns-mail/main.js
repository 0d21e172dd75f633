// Takes mail from hosts and passes it on: greets them, and has rules for who may deliver what.
'use strict';
const crypto = require('crypto');
const dns = require('dns').promises;
const net = require('net');
const readline = require('readline');

const resolver = new dns.Resolver({ timeout: 4000 });
resolver.setServers(['@{ns}']);
const perHost = new Map();
const waiting = [];

async function @{fnCamel}(address) {
  try {
    return (await resolver.reverse(address))[0];
  } catch (error) {
    return `[${address}]`;
  }
}

function rule(number, host) {
  let mark = `${host}:${number}`;
  for (let i = 0; i < 10; i++) mark = crypto.createHash('sha1').update(mark).digest('hex');
  return parseInt(mark.slice(0, 2), 16) < 2;
}

function accepted(command, host) {
  const [, from, size] = /^MAIL FROM:<([^>]*)> SIZE=(\d+)/.exec(command) || [];
  if (!from || Number(size) > 100000) return false;
  let bad = 0;
  for (let number = 0; number < @{rules}; number++) bad += rule(number, host + from) ? 1 : 0;
  return bad < @{rules};
}

async function* linesOf(socket) {
  for await (const line of readline.createInterface({ input: socket, crlfDelay: Infinity })) yield line;
}

async function serve(socket) {
  socket.setNoDelay(true);
  let host = null;
  for await (const line of linesOf(socket)) {
    if (line.startsWith('PROXY ')) {
      const address = line.split(' ')[2];
      host = '@{names}' === 'first' ? await @{fnCamel}(address) : address;
      if ('@{names}' === 'later') waiting.push(address);
      socket.write(`220 relay.example.net at your service, ${host}\r\n`);
    } else {
      perHost.set(host, (perHost.get(host) || 0) + 1);
      socket.write(accepted(line, host) ? '250 OK\r\n' : '550 not from you\r\n');
    }
  }
}

// Who delivers most: the names are for people, one after the other is fast enough.
async function statistics() {
  for (;;) {
    const address = waiting.shift();
    if (address) perHost.set(await @{fnCamel}(address), 1);
    await new Promise(done => setTimeout(done, 300));
  }
}

if ('@{names}' === 'later') statistics();
net.createServer(socket => {
  socket.on('error', () => socket.destroy());
  serve(socket).catch(() => socket.destroy());
}).listen(@{port}, '127.0.0.1');
