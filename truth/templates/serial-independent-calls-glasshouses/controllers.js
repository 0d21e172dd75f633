// The controllers of six glasshouses, one a port. A question: function (1 byte), its number (2), water that there is (2); the answer: the
// function, the number, and temperature, humidity, light and the water that is left (2 bytes each).
'use strict';
const dgram = require('dgram');
const fs = require('fs');

const PORTS = [@{palms}, @{herbs}, @{cacti}, @{ferns}, @{roses}, @{seeds}];
let up = 0;

PORTS.forEach((port, house) => {
    const socket = dgram.createSocket('udp4');
    socket.on('message', (question, from) => {
        if (question.length < 5 || question[0] !== 3) return;
        const number = question.readUInt16BE(1);
        const answer = Buffer.alloc(11);
        answer[0] = 3;
        answer.writeUInt16BE(number, 1);
        answer.writeUInt16BE(1400 + house * 160 + ((number * 31) % 240), 3);
        answer.writeUInt16BE(400 + ((number * 17 + house * 90) % 500), 5);
        answer.writeUInt16BE((number * 53) % 9000, 7);
        answer.writeUInt16BE(Math.max(0, question.readUInt16BE(3) - 40 - house * 9), 9);
        setTimeout(() => socket.send(answer, from.port, from.address), @{takes} * (0.8 + Math.random() * 0.4));
    });
    socket.bind(port, '127.0.0.1', () => {
        up += 1;
        if (up === PORTS.length) fs.writeFileSync('@{work}/@{ready}', 'up\n');
    });
});
