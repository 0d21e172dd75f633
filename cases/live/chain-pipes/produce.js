// Writes records to a pipe, one every 5 ms: what takes long is not here.
const { writeSync } = require("fs");

const record = Buffer.alloc(8192, "record ");
const until = new Int32Array(new SharedArrayBuffer(4));
for (;;) {
  for (let at = 0; at < record.length; ) at += writeSync(1, record, at);
  Atomics.wait(until, 0, 0, 5);
}
