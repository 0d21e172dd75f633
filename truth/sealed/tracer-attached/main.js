// Checks which of the users' rooms have pictures.
'use strict';
const fs = require('fs');
const { performance } = require('perf_hooks');

const now = () => performance.now() / 1000;
const waitUntil = (due) => new Promise((done) => setTimeout(done, Math.max(0, (due - now()) * 1000)));
const report = (units, seconds, culprit) => fs.writeFileSync('@{report}', JSON.stringify({ units, seconds, culprit }));
const folder = '@{work}/@{folder}';

function @{fnCamel}() {
    let there = 0;
    for (let i = 0; i < @{files}; i++) {
        if (fs.existsSync(`${folder}/room-${i}.png`) || fs.existsSync(`${folder}/room-${i}.jpg`)) there++;
    }
    return there;
}

async function main() {
    fs.mkdirSync(folder);
    for (let i = 0; i < @{files}; i += 3) fs.writeFileSync(`${folder}/room-${i}.png`, '');
    fs.writeFileSync('@{work}/service.pid', `${process.pid}\n`);
    await waitUntil(now() + 0.15);
    let units = 0, busy = 0, culprit = 0, sum = 1;
    const began = now();
    while (now() - began < @{seconds}) {
        const start = now();
        sum += @{fnCamel}();
        culprit += now() - start;
        for (let i = 0; i < @{spins} * 700; i++) sum = (Math.imul(sum, 1664525) + i) | 0;
        units++;
        busy += now() - start;
        await waitUntil(began + units / @{rate});
    }
    report(units, busy, culprit);
}

main();
