// Prices parcels: adds the fees to what the catalogue says. A frame: length (4), number (4), grams (4), zone (2); the answer: length (4), number (4), cents (4).
'use strict';
const net = require('net');

function price(shop) {
    const catalogue = net.connect('@{work}/@{catalogue}');
    const waiting = [];
    let inbox = Buffer.alloc(0), answers = Buffer.alloc(0);

    catalogue.on('data', (data) => {
        answers = Buffer.concat([answers, data]);
        while (answers.length >= 6) {
            const cents = answers.readUInt32BE(2);
            answers = answers.subarray(6);
            const frame = Buffer.alloc(12);
            frame.writeUInt32BE(8, 0);
            frame.writeUInt32BE(waiting.shift(), 4);
            frame.writeUInt32BE(cents + 45 + Math.ceil(cents * 0.19), 8);
            shop.write(frame);
        }
    });
    shop.setNoDelay(true);
    shop.on('data', (data) => {
        inbox = Buffer.concat([inbox, data]);
        while (inbox.length >= 14) {
            waiting.push(inbox.readUInt32BE(4));
            const question = Buffer.alloc(9);
            question.writeUInt16BE(7, 0);
            question[2] = 1;
            question.writeUInt16BE(inbox.readUInt16BE(12), 3);
            question.writeUInt32BE(inbox.readUInt32BE(8), 5);
            inbox = inbox.subarray(14);
            catalogue.write(question);
        }
    });
    shop.on('close', () => catalogue.destroy());
    shop.on('error', () => {});
    catalogue.on('error', () => shop.destroy());
}

net.createServer(price).listen(@{pricing}, '127.0.0.1');
