// The counter of a freight station: "clear N" is answered by whether consignment N may leave, and what it costs.
'use strict';
const net = require('net');
const readline = require('readline');

class Desk {
    constructor() {
        this.line = net.connect(@{desk}, '127.0.0.1');
        this.line.setNoDelay(true);
        this.line.setTimeout(8000, () => this.asked.length && this.line.destroy(new Error('the desk takes too long')));
        this.asked = [];
        this.heard = new Map();
        this.line.on('error', (error) => this.asked.splice(0).forEach(({ reject }) => reject(error)));
        readline.createInterface({ input: this.line }).on('line', (text) => this.hear(text));
    }

    hear(text) {
        if (text !== '') {
            const [name, value] = text.split(': ', 2);
            this.heard.set(name, value);
            return;
        }
        const said = this.heard;
        this.heard = new Map();
        this.asked.shift().resolve(said);
    }

    ask(fields) {
        const block = Object.entries(fields).map(([name, value]) => `${name}: ${value}\n`).join('');
        return new Promise((resolve, reject) => {
            this.asked.push({ resolve, reject });
            this.line.write(`${block}\n`);
        });
    }
}

function papers(number) {
    const items = Array.from({ length: @{items} }, (_, item) => (Math.imul(number, 2654435761) + item * 40503) >>> 0);
    return {
        consignor: `P${String((number * 41) % 2000000).padStart(7, '0')}`,
        goods: ((number * 31) % 97) + 1,
        value: items.reduce((sum, draw) => sum + 200 + (draw % 90000), 0),
        grams: items.reduce((sum, draw) => sum + 10 + (Math.floor(draw / 7) % 4000), 0),
    };
}

net.createServer((shipper) => {
    const desk = new Desk();
    shipper.setNoDelay(true);
    shipper.on('error', () => {});
    shipper.on('close', () => desk.line.destroy());
    readline.createInterface({ input: shipper }).on('line', async (text) => {
        const number = Number(text.split(' ')[1]);
        const { grams, ...asked } = papers(number);
        try {
            const said = await desk.ask(asked);
            shipper.write(`${number} ${said.get('verdict')} ${grams} g, value ${asked.value}, duty ${said.get('duty')}\n`);
        } catch (error) {
            console.error(error.message);
            shipper.destroy();
        }
    });
}).listen(@{port}, '127.0.0.1');
