// Paints weather maps: some isobars over a large, clear canvas, to be laid over a map.
"use strict";
const fs = require("fs");

const width = @{width};
const height = @{height};
const lines = @{lines};

class Painter {
  constructor() {
    this.canvas = undefined;
    this.maps = 0;
  }

  stroke(number, colour) {
    const { canvas } = this;
    for (let row = 0; row < height; row++) {
      for (let line = 0; line < lines; line++) {
        const from = row * width + ((number * 37 + line * Math.floor(width / lines) + Math.floor((row * (line + 1)) / 3)) % (width - 8));
        for (let i = 0; i < 6; i++) canvas[from + i] = colour;
      }
    }
  }

  @{fnCamel}(number) {
    this.canvas ??= new Uint32Array(width * height);
    this.stroke(number, 0xff2040c0 + (number % 32));
    const weight = this.canvas[(number % height) * width] & 255;
    if (++this.maps % @{keep} === 0) this.canvas = undefined;
    else this.stroke(number, 0);
    return weight;
  }
}

async function main() {
  const painter = new Painter();
  const begin = performance.now();
  let units = 0;
  let busy = 0;
  let weight = 0;
  while (performance.now() - begin < 1000 * @{seconds}) {
    const start = performance.now();
    weight += painter.@{fnCamel}(units);
    units++;
    busy += performance.now() - start;
    await new Promise((due) => setTimeout(due, Math.max(0, begin + (1000 * units) / @{rate} - performance.now())));
  }
  fs.writeFileSync("@{report}", JSON.stringify({ units, seconds: busy / 1000, weight }));
}

main();
