// Streams pieces of films to a few viewers; each viewer jumps about.
const fs = require("fs/promises");
const crypto = require("crypto");

const clock = () => Number(process.hrtime.bigint()) / 1e9;
const pause = (seconds) => new Promise((done) => setTimeout(done, Math.max(0, seconds) * 1000));
const PIECE = @{kb} * 1024;
const VIEWERS = 2;
const totals = { units: 0, seconds: 0, culprit: 0 };

class Film {
  static async open(path) {
    const film = new Film();
    film.file = await fs.open(path);
    film.pieces = Math.min(@{spread}, Math.floor((await film.file.stat()).size / PIECE));
    return film;
  }

  async @{fnCamel}(number) {
    const start = clock();
    const { buffer } = await this.file.read(Buffer.allocUnsafe(PIECE), 0, PIECE, (number % this.pieces) * PIECE);
    totals.culprit += clock() - start;
    return buffer;
  }
}

async function view(film, viewer, end) {
  let place = viewer * 7919 + 1, due = clock();
  while (clock() < end) {
    const start = clock();
    for (let i = 0; i < @{reads}; i++) {
      place = (place * 48271) % 2147483647;
      const piece = await film.@{fnCamel}(place);
      for (let round = 0; round < @{rounds}; round++) crypto.createHash("md5").update(piece).digest();
    }
    totals.seconds += clock() - start;
    totals.units++;
    due = Math.max(due + VIEWERS / @{per_s}, clock());
    await pause(due - clock());
  }
}

async function main() {
  const film = await Film.open("@{work}/@{disk}/@{data}");
  const end = clock() + @{seconds};
  await Promise.all(Array.from({ length: VIEWERS }, (_, viewer) => view(film, viewer, end)));
  await film.file.close();
  await fs.writeFile("@{report}", JSON.stringify(totals));
}

main();
