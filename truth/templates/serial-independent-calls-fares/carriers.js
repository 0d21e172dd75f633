// Five carriers: "FARE kilos from-hour" is answered by "FARE cents arrival-hour".
'use strict';
const net = require('net');
const readline = require('readline');

const CARRIERS = { @{road}: [11, 9], @{rail}: [7, 21], @{barge}: [4, 60], @{air}: [90, 3], @{courier}: [60, 5] };

for (const [port, [cents, hours]] of Object.entries(CARRIERS)) {
    net.createServer({ noDelay: true }, (desk) => {
        desk.on('error', () => {});
        readline.createInterface({ input: desk }).on('line', (line) => {
            const [, kilos, from] = line.split(' ').map(Number);
            const arrival = from + hours + kilos % 7;
            setTimeout(() => desk.write(`FARE ${Math.round(kilos * cents * (1 + arrival % 24 / 50))} ${arrival}\n`), @{takes} * (0.8 + Math.random() * 0.4));
        });
    }).listen(Number(port), '127.0.0.1');
}
