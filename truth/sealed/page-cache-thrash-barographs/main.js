'use strict';
// Serves curves that were read off old strips of paper. "asked N": what the strips of some stations say of a day;
// "copied N": the next strips. An answer is a line.
const fs = require('fs');
const net = require('net');
const readline = require('readline');

const STRIP = @{kb} * 1024;

class Curves {
  constructor(path) {
    this.file = fs.openSync(path);
    this.count = Math.floor(fs.fstatSync(this.file).size / STRIP);
    this.spare = [];
  }

  warm() {
    const part = Buffer.allocUnsafe(1 << 20);
    while (fs.readSync(this.file, part) > 0);
  }

  @{fnCamel}(strip, into) {
    return new Promise((resolve, reject) => {
      fs.read(this.file, into, 0, STRIP, (strip % this.count) * STRIP, (error) => (error ? reject(error) : resolve(into)));
    });
  }

  async range(strip) {
    const into = this.spare.pop() || Buffer.allocUnsafeSlow(STRIP);
    await this.@{fnCamel}(strip, into);
    let low = 65535, high = 0;
    for (let at = 0; at < STRIP; at += 64) {
      const value = into.readUInt16LE(at);
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    this.spare.push(into);
    return [low, high];
  }

  async asked(number) {
    let low = 0, high = 0;
    let strip = (Math.imul(number + 1, 2654435761) ^ process.pid * 97) >>> 0;
    for (let i = 0; i < @{strips}; i++) {
      strip = (Math.imul(strip, 1664525) + 1013904223) >>> 0;
      const [l, h] = await this.range(strip >>> 4);
      low += l;
      high += h;
    }
    return [low / @{strips}, high / @{strips}];
  }

  async copied(number) {
    const each = Math.ceil(@{strips} / @{part});
    let last;
    for (let i = 0; i < each; i++) last = await this.range(number * each + i);
    return last;
  }
}

const curves = new Curves('@{work}/@{curves}');
fs.writeFileSync('/sys/fs/cgroup/memory/@{slice}/cgroup.procs', String(process.pid));
if ('@{way}' === 'asked') curves.warm();
net.createServer((caller) => {
  caller.setNoDelay(true);
  caller.on('error', () => caller.destroy());
  readline.createInterface({ input: caller }).on('line', async (line) => {
    const [word, number] = line.split(' ');
    const [low, high] = await (word === 'asked' ? curves.asked(+number) : curves.copied(+number));
    caller.write(`${number} ${low.toFixed(1)} ${high.toFixed(1)}\n`);
  });
}).listen(@{port}, '127.0.0.1');
