// Publishes lists of hosts to whoever connects: "list N", then N names, and the next list when it is due.
'use strict';
const net = require('net');

const WORDS = ['ads', 'track', 'pixel', 'banner', 'count', 'click', 'metric', 'offers'];
const ENDS = ['example.com', 'example.net', 'shop.example', 'cdn.example.org'];

function list(number) {
    const names = [];
    for (let i = 0; i < @{names}; i++) {
        const mixed = number * 7919 + i * 31;
        if (i % Math.ceil(@{names} / @{wrong}) === 1) {
            const label = 'k7q2zf9x4m1v8w3t5b6n0'.slice(mixed % 2, (mixed % 2) + @{label});
            names.push(`${label}_${mixed % 10}.${ENDS[i % ENDS.length]}`);
        } else {
            names.push(`${WORDS[mixed % WORDS.length]}-${mixed % 97}.${WORDS[i % WORDS.length]}.${ENDS[mixed % ENDS.length]}`);
        }
    }
    return `list ${names.length}\n${names.join('\n')}\n`;
}

const server = net.createServer((line) => {
    const began = performance.now();
    let number = 0;
    const next = () => {
        if (line.destroyed) return;
        const flowing = line.write(list(number++));
        const rest = () => setTimeout(next, Math.max(0, began + (number * 1000) / @{pace} - performance.now()));
        if (flowing) rest();
        else line.once('drain', rest);
    };
    line.setNoDelay(true);
    line.on('error', () => line.destroy());
    next();
});
server.listen(@{feed}, '127.0.0.1');
