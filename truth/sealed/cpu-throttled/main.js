// Renders pages of a shop, as they are asked for.
'use strict';
const fs = require('fs');
const { performance } = require('perf_hooks');

const now = () => performance.now() / 1000;
const waitUntil = (due) => new Promise((done) => setTimeout(done, Math.max(0, (due - now()) * 1000)));
const report = (units, seconds, culprit) => fs.writeFileSync('@{report}', JSON.stringify({ units, seconds, culprit }));

function @{fnCamel}(page, ms) {
    let value = page;
    for (let i = 0; i < ms * 700000; i++) {
        value = (Math.imul(value, 1664525) + 1013904223 + i) | 0;
    }
    return value;
}

async function main() {
    fs.writeFileSync('@{work}/limits/cgroup.procs', String(process.pid));
    let units = 0, busy = 0, culprit = 0, sum = 0;
    const began = now();
    while (now() - began < @{seconds}) {
        const start = now(), before = process.cpuUsage();
        sum ^= @{fnCamel}(units, @{heavy} && units % @{heavy} === 5 ? 45 : @{small_ms});
        const took = now() - start, used = process.cpuUsage(before);
        units++;
        busy += took;
        culprit += Math.max(0, took - (used.user + used.system) / 1e6);
        await waitUntil(began + units * @{small_ms} / 1000 / @{load});
    }
    report(units, busy, culprit);
    console.log(sum);
}

main();
