'use strict';
// Takes scores into the library: who has the same one already, what shelf mark it gets, and the line of the catalogue.
const { execFile } = require('child_process');
const { createHash } = require('crypto');
const fs = require('fs');
const path = require('path');
const { promisify } = require('util');
const start = promisify(execFile);

const now = () => Number(process.hrtime.bigint()) / 1e9;
const rest = ms => new Promise(done => setTimeout(done, Math.max(0, ms)));
const KEYS = ['C', 'G', 'D', 'A', 'E', 'B', 'F#', 'Db', 'Ab', 'Eb', 'Bb', 'F'];

class Library {
  constructor(shelf) {
    this.shelf = shelf;
    this.scores = fs.readdirSync(shelf).sort();
    this.known = new Map();
    this.printing = 0;
  }

  async @{fnCamel}(names) {
    const began = now();
    const paths = names.map(name => path.join(this.shelf, name));
    let prints;
    if ('@{prints}' === 'here') {
      prints = await Promise.all(paths.map(async each =>
        createHash('@{tool}'.replace('sum', '')).update(await fs.promises.readFile(each)).digest('hex')));
    } else {
      const { stdout } = await start('@{tool}', paths);
      prints = stdout.trim().split('\n').map(line => line.split(' ')[0]);
    }
    this.printing += now() - began;
    return prints;
  }

  mark(print) {
    let value = 0;
    for (const digit of print) value = (value * 16 + parseInt(digit, 16)) % 99991;
    return `${KEYS[value % 12]}-${String(value).padStart(5, '0')}`;
  }

  async take(number, many) {
    const names = Array.from({ length: many }, (_, i) => this.scores[(number * many + i) % this.scores.length]);
    const prints = await this.@{fnCamel}(names);
    prints.forEach((print, i) => {
      const old = this.known.get(print);
      this.known.set(print, { name: names[i], mark: this.mark(print), copies: old ? old.copies + 1 : 1 });
    });
  }
}

async function main() {
  const library = new Library('@{work}/@{shelf}');
  const began = now();
  let units = 0, busy = 0;
  while (now() - began < @{seconds}) {
    const at = now();
    await library.take(units++, @{parcel});
    busy += now() - at;
    await rest((began + units / @{rate} - now()) * 1000);
  }
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit: '@{prints}' === 'here' ? 0 : library.printing }));
}

main();
