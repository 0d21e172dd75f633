// Ships log entries in batches: those that came in, when enough time is over.
'use strict';
const fs = require('fs');
const net = require('net');

const patience = @{patience};
const flushMs = @{flush};
let units = 0, busy = 0, culprit = 0;
let batch = [], due = Date.now() + flushMs, shipped = 0;

const now = () => Number(process.hrtime.bigint()) / 1e9;

function enter(line) {
  const start = now();
  let hash = 0;
  do {
    for (const letter of line) hash = (hash * 31 + letter.charCodeAt(0)) | 0;
  } while (now() - start < @{effort} / 1000);
  batch.push({ line, hash });
  units++;
  busy += now() - start;
}

const journal = net.connect(@{port}, '127.0.0.1');
let rest = '';
journal.on('data', (data) => {
  const lines = (rest + data).split('\n');
  rest = lines.pop();
  lines.forEach(enter);
  if (patience === 2) setImmediate(() => { shipped += 0; });
});

function ship() {
  shipped += batch.length;
  batch = [];
  due = Date.now() + flushMs;
}

let last = now(), seen = 0;
function @{fnCamel}() {
  if (patience === 0) {
    // What passed since the last round, but for the entries of it.
    const t = now();
    const idle = Math.max(0, t - last - (busy - seen));
    culprit += idle;
    busy += idle;
    last = t;
    seen = busy;
  }
  if (Date.now() >= due) ship();
  if (patience === 0) setImmediate(@{fnCamel});
  else setTimeout(@{fnCamel}, due - Date.now());
}
@{fnCamel}();

setTimeout(() => {
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit }));
  process.exit(0);
}, @{seconds} * 1000);
