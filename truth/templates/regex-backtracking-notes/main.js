// Tidies the notes that customers leave with their orders, and counts what they mention.
'use strict';
const fs = require('fs');
const { performance } = require('perf_hooks');

const now = () => performance.now() / 1000;
const pause = (seconds) => new Promise((done) => setTimeout(done, Math.max(0, seconds * 1000)));
const WORDS = ['please', 'leave', 'at', 'the', 'door', 'ring', 'twice', 'gift', 'second', 'floor'];

function note(number) {
    const lines = [];
    for (let l = 0; l < @{lines}; l++) {
        const words = [];
        for (let w = 0; w < @{words}; w++) words.push(WORDS[(number * 7 + l * 3 + w) % WORDS.length]);
        // Pasted from a form with columns.
        words.splice(words.length >> 1, 0, ' '.repeat(@{blanks} - (number % 5) * (@{blanks} >> 5)));
        lines.push(words.join(' ') + ' '.repeat(number % 4));
    }
    return lines;
}

function cut(text) {
    let end = text.length;
    while (end > 0 && (text[end - 1] === ' ' || text[end - 1] === '\t')) end--;
    return text.slice(0, end);
}

function @{fnCamel}(lines) {
    if ('@{pattern}' === 'cut') return lines.map(cut);
    return lines.map((line) => line.replace(/[ \t]+$/, ''));
}

async function main() {
    let units = 0, busy = 0, culprit = 0, mentioned = 0;
    const began = now();
    while (now() - began < @{seconds}) {
        const start = now();
        const lines = note(units);
        const asked = now();
        const tidy = @{fnCamel}(lines);
        culprit += now() - asked;
        mentioned += tidy.join('\n').split('gift').length - 1;
        units++;
        busy += now() - start;
        await pause(began + units / @{rate} - now());
    }
    fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit }));
    console.log(mentioned);
}

main();
