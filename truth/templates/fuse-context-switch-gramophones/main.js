// Prepares the listening booths of a museum: takes the side that a visitor chose, and draws its wave for the screen.
const fs = require("fs");
const { performance } = require("perf_hooks");

const FOLDER = "@{work}/@{mount}";
const part = Buffer.alloc(@{take_kb} * 1024);

class Booth {
  constructor() {
    this.taking = 0;
    this.screens = new Map();
  }

  @{fnCamel}(side, use) {
    const begun = performance.now();
    let used = 0;
    const file = fs.openSync(`${FOLDER}/@{side}-${side}.pcm`);
    try {
      const last = @{whole} ? fs.fstatSync(file).size : 1024;
      for (let at = 0; at < last; ) {
        const got = fs.readSync(file, part, 0, Math.min(part.length, last - at), at);
        if (got === 0) break;
        const before = performance.now();
        use(part.subarray(0, got));
        used += performance.now() - before;
        at += got;
      }
    } finally {
      fs.closeSync(file);
      this.taking += performance.now() - begun - used;
    }
  }

  screen(side) {
    const peaks = [];
    this.@{fnCamel}(side, (sound) => {
      for (let i = 0; i < sound.length; i += 4096) {
        let peak = 0;
        for (let j = i; j < Math.min(i + 4096, sound.length); j += 64) peak = Math.max(peak, Math.abs(sound[j] - 128));
        peaks.push(peak);
      }
    });
    this.screens.set(side, peaks);
  }
}

async function main() {
  const booth = new Booth();
  const began = performance.now();
  let units = 0;
  let busy = 0;
  while (performance.now() - began < @{seconds} * 1000) {
    const start = performance.now();
    booth.screen((units * 5) % @{sides});
    units++;
    busy += performance.now() - start;
    const rest = began + (units * 1000) / @{per_s} - performance.now();
    if (rest > 0) await new Promise((go) => setTimeout(go, rest));
  }
  fs.writeFileSync("@{report}", JSON.stringify({ units, seconds: busy / 1000, culprit: booth.taking / 1000 }));
}

main();
