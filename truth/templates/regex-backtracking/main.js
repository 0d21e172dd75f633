const fs = require("fs");
const now = () => performance.now() / 1000;
const waitUntil = (due) => new Promise((done) => setTimeout(done, Math.max(0, (due - now()) * 1000)));

function report(units, busy, culprit) {
  fs.writeFileSync("@{report}", JSON.stringify({ units, seconds: busy, culprit }));
}

const ADDRESS = /^[\w.]+[\w.]*[\w.]*@[\w.]+$/;

function @{fnCamel}(text) {
  if (@{careful}) {
    const at = text.indexOf("@");
    return at > 0 && /^[\w.]+$/.test(text.slice(at + 1));
  }
  return ADDRESS.test(text);
}

class Form {
  constructor(number) {
    this.mail = ("guest" + number + ".of.the.house.").repeat(20).slice(0, Math.ceil(@{length} / 14)) + "!";
  }
}

const forms = Array.from({ length: 8 }, (_, n) => new Form(n));

async function main() {
  let units = 0, busy = 0, valid = 0;
  const began = now();
  while (now() - began < @{seconds}) {
    const start = now();
    valid += @{fnCamel}(forms[units % forms.length].mail);
    units++;
    busy += now() - start;
    await waitUntil(began + units / @{rate});
  }
  report(units, busy, busy);
}

main();
