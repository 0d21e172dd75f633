// Tells who is to get a campaign: the readers of a segment, without those who do not want it.
const net = require('net');
const fs = require('fs');

const left = fs.readFileSync('@{work}/@{gone}', 'utf8').split('\n').filter(Boolean).map((line) => line.trim().toLowerCase());
const known = '@{way}' === 'set' ? new Set(left) : null;

function readersOf(segment) {
  const found = [];
  for (let i = 0; i < @{readers}; i++) {
    const number = (segment * 977 + i * 613) % 100003;
    found.push(`Reader${number}@mail${i % 9}.example`.toLowerCase());
  }
  return found;
}

function @{fnCamel}(readers) {
  const wanted = [];
  for (const reader of readers) {
    if (left.indexOf(reader) < 0) wanted.push(reader);
  }
  return wanted;
}

function without(readers) {
  return readers.filter((reader) => !known.has(reader));
}

function byProvider(readers) {
  const counts = {};
  for (const reader of readers) {
    const provider = reader.slice(reader.indexOf('@') + 1);
    counts[provider] = (counts[provider] || 0) + 1;
  }
  return Object.entries(counts).sort((a, b) => b[1] - a[1]).slice(0, 4);
}

function answer(line) {
  const [word, number] = line.trim().split(' ');
  if (word !== 'campaign') return 'error: campaign NUMBER';
  const readers = readersOf(Number(number));
  const wanted = known ? without(readers) : @{fnCamel}(readers);
  const providers = byProvider(wanted).map(([name, count]) => `${name}=${count}`);
  return `${number} ${wanted.length} of ${readers.length} ${providers.join(',')}`;
}

net.createServer((socket) => {
  let rest = '';
  socket.setNoDelay(true);
  socket.setEncoding('utf8');
  socket.on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const line of lines) socket.write(answer(line) + '\n');
  });
  socket.on('error', () => socket.destroy());
}).listen(@{port}, '127.0.0.1');
