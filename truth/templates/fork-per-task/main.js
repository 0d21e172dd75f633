// Resolves the links of an upload folder to the files that they stand for.
'use strict';
const fs = require('fs');
const path = require('path');
const { execFile } = require('child_process');
const { promisify } = require('util');
const { performance } = require('perf_hooks');

const now = () => performance.now() / 1000;
const waitUntil = (due) => new Promise((done) => setTimeout(done, Math.max(0, (due - now()) * 1000)));
const report = (units, seconds, culprit) => fs.writeFileSync('@{report}', JSON.stringify({ units, seconds, culprit }));
const run = promisify(execFile);
const folder = '@{work}/@{inbox}';

async function @{fnCamel}(link, n) {
    if ('@{way}' === 'call' && n % @{every} === 0) {
        const { stdout } = await run('readlink', ['-f', link]);
        return stdout.trim();
    }
    return path.resolve(path.dirname(link), await fs.promises.readlink(link));
}

async function main() {
    fs.mkdirSync(path.join(folder, 'objects'), { recursive: true });
    for (let i = 0; i < @{files}; i++) {
        fs.writeFileSync(path.join(folder, 'objects', `${i}.bin`), 'x'.repeat(100 + i));
        fs.symlinkSync(`objects/${i}.bin`, path.join(folder, `upload-${i}`));
    }
    const known = new Map();
    let units = 0, busy = 0, culprit = 0;
    const began = now();
    while (now() - began < @{seconds}) {
        const start = now();
        const link = path.join(folder, `upload-${units % @{files}}`);
        const file = await @{fnCamel}(link, units);
        culprit += now() - start;
        known.set(link, file);
        units++;
        busy += now() - start;
        await waitUntil(began + units / @{rate});
    }
    report(units, busy, culprit);
}

main();
