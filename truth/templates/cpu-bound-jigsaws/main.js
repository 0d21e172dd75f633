// Sorts the pieces of jigsaw puzzles: a camera sees a tray of them, and the sorter says which edges fit together.
const fs = require('fs');

const EDGES = @{tray} * 4;
const SAMPLES = @{samples};
const now = () => performance.now() / 1000;
const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));

class Tray {
  constructor() {
    this.outlines = Array.from({ length: EDGES }, () => new Int32Array(SAMPLES));
    this.widths = new Int32Array(EDGES);
    this.ofWidth = new Map();
    this.all = Array.from({ length: EDGES }, (_, edge) => edge);
  }

  // What the camera sees: each edge's outline, and elsewhere on the tray the one that fits.
  look(number) {
    this.ofWidth.clear();
    this.outlines.forEach((outline, edge) => {
      const pair = edge >> 1;
      const side = edge % 2 ? -1 : 1;
      for (let i = 0; i < SAMPLES; i++) outline[i] = side * Math.trunc(100 * Math.sin(pair * 1.7 + i * (0.2 + (pair % 13) * 0.05) + number));
      const width = (pair * 37 + number) % 4000;
      this.widths[edge] = width;
      const same = this.ofWidth.get(width);
      if (same) same.push(edge);
      else this.ofWidth.set(width, [edge]);
    });
  }

  @{fnCamel}(edge) {
    const others = '@{way}' === 'widths' ? this.ofWidth.get(this.widths[edge]) : this.all;
    const mine = this.outlines[edge];
    let best = -1;
    let least = Infinity;
    for (const other of others) {
      if (other === edge) continue;
      const outline = this.outlines[other];
      let gap = Math.abs(this.widths[edge] - this.widths[other]) * SAMPLES;
      for (let i = 0; i < SAMPLES; i++) gap += Math.abs(mine[i] + outline[i]);
      if (gap < least) {
        least = gap;
        best = other;
      }
    }
    return best;
  }
}

async function main() {
  const tray = new Tray();
  let units = 0;
  let busy = 0;
  let spent = 0;
  let joined = 0;
  const began = now();
  while (now() - began < @{seconds}) {
    const start = now();
    tray.look(units % 50);
    const seen = now();
    for (let edge = 0; edge < EDGES; edge++) if (tray.@{fnCamel}(edge) === (edge ^ 1)) joined++;
    spent += now() - seen;
    busy += now() - start;
    units++;
    const rest = began + units / @{rate} - now();
    if (rest > 0) await pause(rest);
  }
  console.error(`${joined} joined of ${(units * EDGES) / 2} pairs`);
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit: spent }));
}

main();
