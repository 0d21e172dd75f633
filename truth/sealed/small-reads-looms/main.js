// Checks the patterns of a weaving mill before they go to the looms: a weft is its colour and a bit for each warp that it goes under.
const fs = require('fs');

const WIDTH = @{width};
const BITS = Uint8Array.from({ length: 256 }, (_, value) => value.toString(2).replace(/0/g, '').length);

class Plans {
  constructor(path) {
    this.path = path;
    this.file = fs.openSync(path, 'r');
    this.count = Math.floor(fs.fstatSync(this.file).size / WIDTH);
    this.block = Buffer.alloc(Math.floor(@{block} / WIDTH) * WIDTH);
    this.from = this.end = 0;
  }

  next(cloth, place) {
    if (this.from === this.end) {
      this.end = fs.readSync(this.file, this.block, 0, this.block.length, null);
      if (this.end === 0) {
        this.reopen();
        this.end = fs.readSync(this.file, this.block, 0, this.block.length, null);
      }
      this.from = 0;
    }
    this.block.copy(cloth, place, this.from, this.from + WIDTH);
    this.from += WIDTH;
  }

  // From the first cloth again.
  reopen() {
    fs.closeSync(this.file);
    this.file = fs.openSync(this.path, 'r');
  }

  @{fnCamel}(order, cloth) {
    if (@{single}) {
      for (let mend = 0; mend < @{single}; mend++) {
        const place = ((order * 7919 + mend) * 40503) % this.count;
        fs.readSync(this.file, cloth, mend * WIDTH, WIDTH, place * WIDTH);
      }
      return @{single};
    }
    for (let row = 0; row < @{rows}; row++) this.next(cloth, row * WIDTH);
    return @{rows};
  }
}

// A warp that is not bound for long floats, and is torn soon.
class Findings {
  constructor() {
    this.lifted = this.floats = 0;
    this.yarn = new Array(12).fill(0);
  }

  inspect(cloth, wefts) {
    const loose = new Uint8Array(WIDTH);
    for (let row = 0; row < wefts; row++) {
      const start = row * WIDTH;
      let lifts = 0;
      for (let group = 1; group < WIDTH; group++) {
        const lift = cloth[start + group];
        lifts += BITS[lift];
        loose[group] = lift === 0 ? loose[group] + 1 : 0;
        if (loose[group] > 2) this.floats++;
      }
      this.lifted += lifts;
      this.yarn[cloth[start] % 12] += 160 + (lifts >> 3);
    }
  }
}

const seconds = () => Number(process.hrtime.bigint()) / 1e9;
const pause = (time) => new Promise((done) => setTimeout(done, time * 1000));

async function main() {
  const plans = new Plans(process.argv[2]);
  const findings = new Findings();
  const cloth = Buffer.alloc(@{rows} * WIDTH);
  let units = 0, busy = 0, spent = 0;
  const began = seconds();
  while (seconds() - began < @{seconds}) {
    const start = seconds();
    const wefts = plans.@{fnCamel}(units, cloth);
    spent += seconds() - start;
    findings.inspect(cloth, wefts);
    units++;
    busy += seconds() - start;
    const rest = began + units / @{rate} - seconds();
    if (rest > 0) await pause(rest);
  }
  console.log(`${findings.lifted} lifts, ${findings.floats} floats, yarn ${findings.yarn}`);
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit: spent }));
}

main();
