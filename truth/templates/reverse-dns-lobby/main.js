// The lobby of a chess club: who joins gets a table, and the secretary a line in the book.
'use strict';
const dns = require('dns').promises;
const fs = require('fs');
const net = require('net');
const readline = require('readline');

const EVERY = @{every};
const names = new dns.Resolver();
names.setServers(['@{names}']);
const book = fs.createWriteStream('@{work}/book.txt', { flags: 'a' });
const tables = new Map();
let joined = 0;

async function @{fnCamel}(address) {
  try {
    return (await names.reverse(address))[0];
  } catch {
    return address;
  }
}

function seat(player) {
  const table = player % 32;
  const side = tables.get(table) === 'white' ? 'black' : 'white';
  tables.set(table, side);
  return `table ${table}, ${side}`;
}

async function welcome(client) {
  client.setNoDelay(true);
  client.on('error', () => client.destroy());
  const lines = readline.createInterface({ input: client });
  const first = new Promise((resolve) => lines.once('line', resolve));
  const number = joined++;
  let who = client.remoteAddress;
  if (EVERY === 1) who = await @{fnCamel}(who);
  const player = Number((await first).split(' ')[1]);
  client.end(`${seat(player)}\n`);
  if (EVERY > 1 && number % EVERY === 0) who = await @{fnCamel}(who);
  book.write(`${number};${player};${who}\n`);
}

net.createServer(welcome).listen(@{port}, '127.0.0.1');
