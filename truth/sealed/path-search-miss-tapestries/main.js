// Weaves tapestries: each by a motif, whose pattern is found by its name.
const crypto = require("crypto");
const fs = require("fs/promises");
const path = require("path");

const now = () => performance.now() / 1000;

class Patterns {
  constructor(folders) {
    this.folders = folders;
    this.spent = 0;
    this.kept = new Map();
  }

  async @{fnCamel}(motif) {
    const start = now();
    let file;
    for (const folder of this.folders) {
      try {
        file = await fs.open(path.join(folder, motif + "@{ending}"));
        break;
      } catch (error) {
        if (error.code !== "ENOENT") throw error;
      }
    }
    this.spent += now() - start;
    try {
      return JSON.parse(await file.readFile("utf8"));
    } finally {
      await file.close();
    }
  }

  async once(motif) {
    if (!this.kept.has(motif)) this.kept.set(motif, await this.@{fnCamel}(motif));
    return this.kept.get(motif);
  }
}

class Loom {
  cloth = Buffer.alloc(0);

  weave(pattern, rows) {
    const weft = Array(pattern.threads).fill(pattern.colours).flat();
    for (let row = 0; row < rows; row++) {
      weft.push(weft.shift());
      this.cloth = crypto.createHash("sha256").update(this.cloth).update(weft.join("|")).digest();
    }
  }
}

(async () => {
  const root = "@{work}/@{root}";
  const others = "@{order}" === "only" ? [] : (await fs.readdir(root)).sort().map((name) => path.join(root, name));
  const patterns = new Patterns([...others, "@{work}/@{shared}"]);
  const loom = new Loom();
  let units = 0, busy = 0;
  const began = now();
  while (now() - began < @{seconds}) {
    const start = now();
    const pattern = @{once} ? await patterns.once(`motif-${units % @{once}}`) : await patterns.@{fnCamel}(`motif-${units % (@{last} + 1)}`);
    loom.weave(pattern, @{rounds} * 20);
    units++;
    busy += now() - start;
    await new Promise((done) => setTimeout(done, Math.max(0, (began + units / @{rate} - now()) * 1000)));
  }
  await fs.writeFile("@{report}", JSON.stringify({ units, seconds: busy, culprit: patterns.spent }));
})();
