// Scores mail: by its words, and by whether a blocklist knows the host that sent it.
const crypto = require("crypto");
const dns = require("dns").promises;
const fs = require("fs");

const LISTS = ["@{first}", "@{closed}"];
const WEIGHTS = { invoice: 0.4, prize: 2.1, meeting: -1.2, crypto: 1.7, regards: -0.6, urgent: 1.1 };
const resolver = new dns.Resolver({ timeout: @{patience_ms}, tries: 2 });
resolver.setServers(["@{ns}"]);

const now = () => Number(process.hrtime.bigint()) / 1e9;
const sum = { units: 0, busy: 0, looking: 0, seen: new Map() };

function* mails() {
  const words = Object.keys(WEIGHTS);
  for (let number = 1; ; number++) {
    const text = Array.from({ length: 400 }, (_, i) => words[(i * number + (i >> 3)) % words.length]).join(" ");
    yield { number, sender: [198, 18 + (number & 1), (number >> 8) & 255, number & 255], text };
  }
}

async function @{fnCamel}(sender) {
  const name = [...sender].reverse().join(".");
  let hits = 0;
  for (const list of LISTS) {
    try {
      const found = await resolver.resolve4(`${name}.${list}`);
      if (found.some((address) => address.startsWith("127."))) hits++;
    } catch (error) {
      if (error.code !== "ENOTFOUND" && error.code !== "ENODATA" && error.code !== "ETIMEOUT") throw error;
    }
  }
  return hits;
}

async function filter(mail) {
  const start = now();
  const hits = await @{fnCamel}(mail.sender);
  const asked = now();
  let score = hits * 3;
  for (const word of mail.text.split(" ")) score += WEIGHTS[word] / 100;
  sum.seen.set(crypto.createHash("sha256").update(mail.text).digest("hex"), score > 3 ? "junk" : "inbox");
  sum.units++;
  sum.looking += asked - start;
  sum.busy += now() - start;
}

async function main() {
  const began = now();
  const all = mails();
  let number = 0;
  const worker = async () => {
    while (now() - began < @{seconds}) {
      const rest = began + ++number / @{rate} - now();
      if (rest > 0) await new Promise((done) => setTimeout(done, rest * 1000));
      await filter(all.next().value);
    }
  };
  await Promise.all(Array.from({ length: @{filters} }, worker));
  fs.writeFileSync("@{report}", JSON.stringify({ units: sum.units, seconds: sum.busy, culprit: sum.looking }));
}

main();
