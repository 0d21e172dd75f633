// The office of a sawmill: what the logs of a deck are worth, by species and grade.
'use strict';
const fs = require('fs');
const path = require('path');

const LOG = 32;
const SPECIES = @{species};
const GRADES = @{grades};
const block = Buffer.alloc(LOG * 4096);

// Calls `each` with the sort, metres and thickness of each log of a deck.
function walk(file, each) {
    const deck = fs.openSync(file, 'r');
    try {
        for (let got; (got = fs.readSync(deck, block, 0, block.length, null)) > 0; ) {
            for (let at = 0; at + LOG <= got; at += LOG) {
                each(block[at + 4] * GRADES + block[at + 5], block.readUInt16LE(at + 6) / 100, block.readUInt16LE(at + 8) / 1000);
            }
        }
    } finally {
        fs.closeSync(deck);
    }
}

const cubic = (metres, thick) => (metres * thick * thick * Math.PI) / 4;

function @{fnCamel}(file, wanted) {
    let volume = 0;
    walk(file, (sort, metres, thick) => {
        if (sort === wanted) volume += cubic(metres, thick);
    });
    return volume;
}

function allSorts(file) {
    const volumes = new Float64Array(SPECIES * GRADES);
    walk(file, (sort, metres, thick) => { volumes[sort] += cubic(metres, thick); });
    return volumes;
}

const seconds = () => Number(process.hrtime.bigint()) / 1e9;
let again = 0;

function volumesOf(file) {
    if (@{at_once}) return allSorts(file);
    const volumes = [@{fnCamel}(file, 0)];
    const first = seconds();
    for (let sort = 1; sort < SPECIES * GRADES; sort++) volumes.push(@{fnCamel}(file, sort));
    again += seconds() - first;
    return volumes;
}

const price = (sort) => 320 / (1 + Math.floor(sort / GRADES)) - 35 * (sort % GRADES) + 130;

async function main() {
    const list = [];
    let units = 0, busy = 0;
    const began = seconds();
    while (seconds() - began < @{seconds}) {
        const start = seconds();
        const deck = (units % 20) + 1;
        let worth = 0;
        volumesOf(path.join('@{work}/@{decks}', `@{prefix}${deck}.dat`)).forEach((volume, sort) => { worth += volume * price(sort); });
        list.push(`deck ${deck}: ${worth.toFixed(2)}`);
        units++;
        busy += seconds() - start;
        const rest = began + units / @{per_s} - seconds();
        if (rest > 0) await new Promise((done) => setTimeout(done, rest * 1000));
    }
    fs.writeFileSync('@{work}/values.lst', list.join('\n') + '\n');
    fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit: again }));
}

main();
