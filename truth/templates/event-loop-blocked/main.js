// Prices of articles, and how they compare with all others.
'use strict';
const net = require('net');
const crypto = require('crypto');
const { Worker, isMainThread, parentPort } = require('worker_threads');

function @{fnCamel}(seed) {
  const end = Date.now() + @{work};
  let text = String(seed);
  do {
    const rows = [];
    for (let i = 0; i < 200; i++) rows.push({ id: i, mark: crypto.createHash('md5').update(text + i).digest('hex') });
    rows.sort((a, b) => (a.mark < b.mark ? -1 : 1));
    text = JSON.stringify(rows).slice(0, 64);
  } while (Date.now() < end);
  return text.length;
}

if (!isMainThread) {
  parentPort.on('message', (seed) => parentPort.postMessage(@{fnCamel}(seed)));
} else {
  const summary = { value: 0, at: 0, asked: false };
  const helper = @{own} ? null : new Worker(__filename);
  if (helper) {
    helper.on('message', (value) => {
      summary.value = value;
      summary.at = Date.now();
      summary.asked = false;
    });
  }
  const answer = (line) => {
    if (Date.now() - summary.at > @{age}) {
      if (helper) {
        if (!summary.asked) helper.postMessage(summary.value);
        summary.asked = true;
      } else {
        summary.value = @{fnCamel}(summary.value);
        summary.at = Date.now();
      }
    }
    return `${line.length * 7} of ${summary.value}\n`;
  };
  net.createServer((socket) => {
    socket.setNoDelay(true);
    let rest = '';
    socket.on('data', (data) => {
      const lines = (rest + data).split('\n');
      rest = lines.pop();
      for (const line of lines) socket.write(answer(line));
    });
    socket.on('error', () => {});
  }).listen(@{port}, '127.0.0.1');
}
