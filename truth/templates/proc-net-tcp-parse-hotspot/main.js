// The portal of a campsite's wireless network: lets a phone in if there is room for its connections.
'use strict';
const crypto = require('crypto');
const net = require('net');
const readline = require('readline');

// One line to the census; answers come in the order of the questions.
const census = net.connect(@{desk}, '127.0.0.1');
const waiting = [];
census.setNoDelay(true);
readline.createInterface({ input: census }).on('line', (text) => waiting.shift()(Number(text)));
census.on('error', (error) => {
  console.error(error);
  process.exit(1);
});

function openConnections() {
  return new Promise((resolve) => {
    waiting.push(resolve);
    census.write('open\n');
  });
}

const visits = new Map();

async function @{fnCamel}(phone) {
  const open = await openConnections();
  if (open >= @{most}) return 'full';
  const room = phone % @{rooms};
  visits.set(room, (visits.get(room) || 0) + 1);
  return `welcome ${crypto.createHash('sha256').update(`${room}/${phone}`).digest('hex').slice(0, 24)}`;
}

net.createServer((client) => {
  client.setNoDelay(true);
  client.on('error', () => client.destroy());
  readline.createInterface({ input: client }).on('line', async (line) => {
    const answer = await @{fnCamel}(Number(line.split(' ')[1]));
    client.write(`${answer}\n`);
  });
}).listen(@{port}, '127.0.0.1');
