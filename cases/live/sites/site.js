// As site.c, in Node.js: site.js PORT FOLDER KIND SOCKET does one kind, each by calls that wait: what waits in the event loop has no
// stack. SOCKET is the descriptor of a connection to the peer. Who holds the lock is a worker.
const fs = require("fs");
const { Worker, isMainThread, workerData } = require("worker_threads");

function heronTally() {
  let sum = 1;
  for (let at = 0; at < 3000000; at++) { // SITE compute heronTally
    sum = (sum * 31 + at) % 1000003; // SITE compute heronTally
  }
  return sum;
}

function otterLatch(cells) {
  while (Atomics.compareExchange(cells, 0, 0, 1) !== 0) // SITE lock otterLatch
    Atomics.wait(cells, 0, 1); // SITE lock otterLatch
  unlock(cells);
}

function unlock(cells) {
  Atomics.store(cells, 0, 0);
  Atomics.notify(cells, 0);
}

function rest(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms); // SITE rest rest
}

function finchFlush(file, block) {
  fs.writeSync(file, block, 0, block.length, 0); // SITE file finchFlush
  fs.fdatasyncSync(file); // SITE file finchFlush
}

function badgerAsk(peer, answer) {
  fs.writeSync(peer, "?");
  if (fs.readSync(peer, answer) === 0) // SITE peer badgerAsk
    process.exit(0);
}

function newtDoze(cells) {
  Atomics.wait(cells, 1, 0, 50); // SITE timer newtDoze
}

function nearCaller(of, given) {
  of(...given);
  return 1;
}

function farCaller(of, given) {
  return nearCaller(of, given) + 1;
}

if (!isMainThread) {
  for (;;) {
    while (Atomics.compareExchange(workerData, 0, 0, 1) !== 0) Atomics.wait(workerData, 0, 1);
    rest(50);
    unlock(workerData);
    rest(2);
  }
}
const [, , , folder, kind, socket] = process.argv;
const cells = new Int32Array(new SharedArrayBuffer(8));
const works = {
  compute: () => [heronTally, []],
  lock: () => [otterLatch, [cells]],
  file: () => [finchFlush, [fs.openSync(folder + "/file", "w+"), Buffer.alloc(1 << 22, "x")]],
  peer: () => [badgerAsk, [Number(socket), Buffer.alloc(16)]],
  timer: () => [newtDoze, [cells]],
};
const [of, given] = works[kind]();
fs.writeSync(1, `${kind} ${process.pid}\n`);
const run = () => {
  for (;;) {
    farCaller(of, given);
    if (kind === "lock") rest(5);
  }
};
if (kind === "lock") new Worker(__filename, { workerData: cells }).on("online", run);
else run();
