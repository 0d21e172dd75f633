// The register of vehicles: "plate N" is answered by "CLASS EMISSIONS OWNER".
'use strict';
const net = require('net');

const CLASSES = ['car', 'van', 'moped', 'camper', 'lorry'];

function vehicle(plate) {
    return `${CLASSES[plate % 5]} ${80 + plate * 37 % 170} owner-${plate * 7919 % 100003}\n`;
}

net.createServer((office) => {
    let inbox = '';
    office.setNoDelay(true);
    office.on('error', () => {});
    office.on('data', (data) => {
        inbox += data;
        const lines = inbox.split('\n');
        inbox = lines.pop();
        for (const line of lines) {
            const plate = Number(line.split(' ')[1]) || 0;
            setTimeout(() => office.write(vehicle(plate)), @{delay} * (0.75 + Math.random() / 2));
        }
    });
}).listen(@{register}, '127.0.0.1', 256);
