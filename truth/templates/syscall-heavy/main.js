const fs = require("fs");
const now = () => performance.now() / 1000;
const waitUntil = (due) => new Promise((done) => setTimeout(done, Math.max(0, (due - now()) * 1000)));

function report(units, busy, culprit) {
  fs.writeFileSync("@{report}", JSON.stringify({ units, seconds: busy, culprit }));
}

class Scanner {
  constructor(path) {
    this.file = fs.openSync(path);
    this.time = 0;
  }

  @{fnCamel}(count) {
    const start = now();
    const part = Buffer.alloc(@{size});
    let found = 0;
    for (let n = 0; n < count; n++) {
      fs.readSync(this.file, part, 0, part.length, n * part.length);
      if (part[0] === 10) found++;
    }
    this.time += now() - start;
    return found;
  }

  *parts() {
    const block = Buffer.alloc(Math.floor(@{block} / @{size}) * @{size} || @{size});
    for (let at = 0, got; (got = fs.readSync(this.file, block, 0, block.length, at)) > 0; at += got) {
      yield block.subarray(0, got);
    }
  }

  inBlocks() {
    let found = 0;
    for (const block of this.parts()) {
      for (let at = 0; at < block.length; at += @{size}) if (block[at] === 10) found++;
    }
    return found;
  }
}

(async () => {
  const scanner = new Scanner("@{file}");
  let units = 0, busy = 0;
  const began = now();
  while (now() - began < @{seconds}) {
    const start = now();
    if (@{block}) scanner.inBlocks();
    else scanner.@{fnCamel}(@{used});
    units++;
    busy += now() - start;
    await waitUntil(began + units / @{rate});
  }
  report(units, busy, scanner.time);
})();
