// Pedigrees: how much a dog's ancestors have in common, back to the first entry of the book.
const fs = require("fs");
const http = require("http");
const { fork } = require("child_process");

const join = (group) => fs.writeFileSync(`/sys/fs/cgroup/cpu/${group}/cgroup.procs`, String(process.pid));

const book = [];
for (let dog = 0; dog < 4096; dog++) {
  book.push({ name: `Dog ${dog}`, sire: dog && (dog * 7919) % dog, dam: dog && (dog * 104729) % dog });
}

function @{fnCamel}(dog, rounds) {
  const met = new Uint32Array(book.length);
  let common = 0;
  for (let round = 0; round < rounds; round++) {
    let at = dog % book.length;
    for (let step = 0; step < 200; step++) {
      met[at]++;
      if (met[at] & 1) common += at & 3;
      at = (round + step) & 1 ? book[at].sire : book[at].dam;
      if (at === 0) at = (dog + round * 31 + step) % book.length;
    }
  }
  return common;
}

if (process.argv[2] === "show") {
  join("@{yard}-show");
  for (let dog = 0; ; dog++) @{fnCamel}(dog, 1000);
}

join("@{yard}");
if (@{fair}) fork(process.argv[1], ["show"]);

// The first ones are slow, until it is compiled.
for (let warm = 0; warm < 5; warm++) @{fnCamel}(warm, 400);
const rounds = @{effort_ms} * 900;

http
  .createServer((request, response) => {
    const dog = Number(request.url.split("/").pop());
    const part = Math.floor(rounds / @{dogs});
    const lines = [];
    for (let ancestor = 0; ancestor < @{dogs}; ancestor++) {
      lines.push({ name: book[(dog + ancestor) % book.length].name, common: @{fnCamel}(dog + ancestor, part) });
    }
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify(lines));
  })
  .listen(@{port}, "127.0.0.1");
