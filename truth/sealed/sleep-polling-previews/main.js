// The editor's server: an author sees what a page will look like.
'use strict';
const net = require('net');
const readline = require('readline');

net.createServer((author) => {
    const desk = net.connect(@{desk}, '127.0.0.1');
    const waiting = [];
    let inbox = Buffer.alloc(0);
    desk.setNoDelay(true);
    author.setNoDelay(true);
    desk.on('error', () => author.destroy());
    desk.on('data', (data) => {
        inbox = Buffer.concat([inbox, data]);
        while (inbox.length >= 8) {
            waiting.shift()(inbox.readUInt32BE(0), inbox.readUInt32BE(4));
            inbox = inbox.subarray(8);
        }
    });
    author.on('error', () => {});
    author.on('close', () => desk.destroy());
    readline.createInterface({ input: author }).on('line', (line) => {
        const page = parseInt(line.split(' ')[1], 10) || 0;
        const question = Buffer.alloc(6);
        question.writeUInt16BE(page % 50, 0);
        question.writeUInt32BE(page, 2);
        waiting.push((size, check) => author.write(`preview ${size} ${check.toString(16)}\n`));
        desk.write(question);
    });
}).listen(@{port}, '127.0.0.1', 64);
