// Counts who rides up: a guest's pass is looked at, and the day's sum of the piste goes on.
const fs = require("fs/promises");
const net = require("net");
const path = require("path");
const readline = require("readline");

const office = path.join("@{work}", "@{source}");
const sums = new Map();

async function blocked(pass) {
  try {
    await fs.access(path.join(office, "blocked", `pass-${pass % 2000}`));
    return true;
  } catch (error) {
    if (error.code === "ENOENT") return false;
    throw error;
  }
}

async function @{fnCamel}(pass) {
  if (await blocked(pass)) return "blocked";
  const piste = pass % 24;
  const tariff = await fs.readFile(path.join(office, "tariffs", `piste-${piste}`), "ascii");
  const prices = tariff.trim().split("\n").map(Number);
  const hour = new Date().getMinutes() % prices.length;
  sums.set(piste, (sums.get(piste) || 0) + prices[hour]);
  return `welcome ${prices[hour]} ${sums.get(piste)}`;
}

async function gate(socket) {
  socket.setNoDelay(true);
  socket.on("error", () => socket.destroy());
  for await (const line of readline.createInterface({ input: socket })) {
    try {
      socket.write((await @{fnCamel}(Number(line.split(" ").pop()))) + "\n");
    } catch (error) {
      socket.write(`closed ${error.code}\n`);
    }
  }
}

fs.readdir("@{work}/@{first}/tariffs").then((tariffs) => {
  console.log(tariffs.length, "tariffs");
  net.createServer(gate).listen(@{port}, "127.0.0.1");
});
