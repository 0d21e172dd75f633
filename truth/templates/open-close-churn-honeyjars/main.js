// Makes the labels of honey jars: `labels 17` in, how many and their seal out.
'use strict';
const fs = require('fs');
const net = require('net');
const readline = require('readline');

const RECORD = 32;
const LOTS = @{lots};

class Lots {
  constructor(path) {
    this.path = path;
    this.table = null;
    this.read = 0;
  }

  @{fnCamel}() {
    if (this.table === null || Date.now() - this.read >= @{fresh} * 1000) {
      this.table = fs.readFileSync(this.path);
      this.read = Date.now();
    }
    return this.table;
  }

  find(lot) {
    const record = this.@{fnCamel}().toString('latin1', lot * RECORD, (lot + 1) * RECORD);
    return { name: record.slice(0, 6), valley: record.slice(7, 23).trimEnd(), best: record.slice(24, 31) };
  }
}

const lots = new Lots('@{work}/@{table}');

// The number under the bars, with its check digit.
function code(jar) {
  const digits = '40' + String(jar % 1e10).padStart(10, '0');
  let sum = 0;
  for (let i = 0; i < 12; i++) sum += (digits.charCodeAt(i) - 48) * (i % 2 ? 3 : 1);
  return digits + (10 - sum % 10) % 10;
}

function labels(order) {
  let seal = 7;
  for (let jar = 0; jar < @{jars}; jar++) {
    const lot = lots.find((order * 5 + (jar >> 3)) % LOTS);
    const label = `${lot.name}|${lot.valley}|${lot.best}|${code(order * @{jars} + jar)}`;
    for (let i = 0; i < label.length; i++) seal = (seal * 31 + label.charCodeAt(i)) | 0;
  }
  return seal >>> 0;
}

net.createServer(socket => {
  socket.setNoDelay(true);
  socket.on('error', () => {});
  readline.createInterface({ input: socket, crlfDelay: Infinity }).on('line', line => {
    socket.write(`made @{jars} ${labels(Number(line.split(' ')[1]) % 100000).toString(16)}\n`);
  });
}).listen(@{port}, '127.0.0.1');
