const fs = require("fs");
const now = () => performance.now() / 1000;
const waitUntil = (due) => new Promise((done) => setTimeout(done, Math.max(0, (due - now()) * 1000)));

function report(units, busy, culprit) {
  fs.writeFileSync("@{report}", JSON.stringify({ units, seconds: busy, culprit }));
}
const { Resolver } = require("dns").promises;

const resolver = new Resolver({ timeout: Math.round(@{patience} * 1000), tries: 3 });
resolver.setServers(["@{ns}"]);

async function @{fnCamel}(number) {
  try {
    return await resolver.resolve4(`hook${number}.@{zone}`);
  } catch (error) {
    return [];
  }
}

(async () => {
  let units = 0, busy = 0, looking = 0;
  const began = now();
  while (now() - began < @{seconds}) {
    const start = now();
    await @{fnCamel}(units);
    looking += now() - start;
    units++;
    busy += now() - start;
    await waitUntil(began + units / @{rate});
  }
  report(units, busy, looking);
})();
