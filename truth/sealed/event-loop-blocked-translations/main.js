// A translation memory. "exact N" is answered by the translation of segment N, "near N" by the segments that are most like text N.
'use strict';
const crypto = require('crypto');
const net = require('net');
const readline = require('readline');
const { Worker, isMainThread, parentPort } = require('worker_threads');

const WORDS = 'please remove cover before cleaning never open valve while pump running check pressure gauge close main switch turn handle slowly'.split(' ');

function segment(number) {
    const words = [];
    for (let i = 0, draw = number + 1; i < 5 + (number % 4); i += 1) {
        draw = (Math.imul(draw, 1103515245) + 12345) >>> 0;
        words.push(WORDS[(draw >>> 8) % WORDS.length]);
    }
    return words.join(' ');
}

// How many letters differ.
function distance(one, other) {
    let above = new Uint16Array(other.length + 1).map((_, i) => i);
    let row = new Uint16Array(other.length + 1);
    for (let i = 1; i <= one.length; i += 1) {
        row[0] = i;
        const letter = one.charCodeAt(i - 1);
        for (let j = 1; j <= other.length; j += 1) {
            const kept = above[j - 1] + (letter === other.charCodeAt(j - 1) ? 0 : 1);
            row[j] = Math.min(kept, above[j] + 1, row[j - 1] + 1);
        }
        [above, row] = [row, above];
    }
    return above[other.length];
}

class Memory {
    constructor(size) {
        this.segments = Array.from({ length: size }, (_, number) => segment(number));
    }

    exact(number) {
        const text = this.segments[number % this.segments.length];
        return `${crypto.createHash('md5').update(text).digest('hex')} ${text.toUpperCase()}`;
    }

    @{fnCamel}(text) {
        const best = [];
        this.segments.forEach((known, number) => {
            const far = distance(text, known);
            if (best.length === 3 && far >= best[2].far) return;
            best.push({ number, far });
            best.sort((a, b) => a.far - b.far);
            best.length = Math.min(best.length, 3);
        });
        return best.map(({ number, far }) => `${number}:${far}`).join(' ');
    }
}

function serve() {
    const memory = new Memory(@{segments});
    const searcher = '@{place}' === 'aside' ? new Worker(__filename) : null;
    const asked = [];
    if (searcher) searcher.on('message', (answer) => asked.shift()(answer));
    const near = (text) => {
        if (!searcher) return memory.@{fnCamel}(text);
        return new Promise((done) => {
            asked.push(done);
            searcher.postMessage(text);
        });
    };
    net.createServer((translator) => {
        translator.setNoDelay(true);
        translator.on('error', () => {});
        readline.createInterface({ input: translator }).on('line', async (line) => {
            const [verb, number] = line.split(' ');
            const answer = verb === 'near' ? await near(`${segment(Number(number) * 7)} again`) : memory.exact(Number(number));
            translator.write(`${answer}\n`);
        });
    }).listen(@{port}, '127.0.0.1');
}

if (isMainThread) serve();
else {
    const memory = new Memory(@{segments});
    parentPort.on('message', (text) => parentPort.postMessage(memory.@{fnCamel}(text)));
}
