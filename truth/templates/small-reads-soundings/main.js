// Soundings of a survey ship: the depth below each beam, by the tide, into a grid.
'use strict';
const fs = require('fs');
const net = require('net');
const readline = require('readline');

const HEAD = 12;
const GRID = 256;
const PAGE = @{piece};
const STRIPS = @{strips};
const clock = () => Number(process.hrtime.bigint()) / 1e9;

let reading = 0;

class Recording {
    constructor(path) {
        this.fd = fs.openSync(path, 'r');
        this.size = fs.fstatSync(this.fd).size;
        this.ahead = Buffer.alloc(Math.max(PAGE, 4096));
        this.from = this.until = 0;
    }

    take(length) {
        if (PAGE === 0) {
            const got = fs.readSync(this.fd, this.ahead, 0, length, null);
            return got === length ? this.ahead.subarray(0, length) : null;
        }
        if (this.until - this.from < length) {
            this.ahead.copy(this.ahead, 0, this.from, this.until);
            this.until -= this.from;
            this.from = 0;
            this.until += fs.readSync(this.fd, this.ahead, this.until, this.ahead.length - this.until, null);
            if (this.until < length) return null;
        }
        this.from += length;
        return this.ahead.subarray(this.from - length, this.from);
    }

    @{fnCamel}() {
        const start = clock();
        const head = this.take(HEAD);
        let ping = null;
        if (head) {
            ping = { at: head.readUInt32LE(0), track: head.readUInt32LE(4), beams: head.readUInt32LE(8) };
            ping.depths = this.take(ping.beams * 2);
        }
        reading += clock() - start;
        return ping;
    }

    strip(number, length) {
        const at = (number * 7919) % Math.floor(this.size / length) * length;
        const bytes = Buffer.alloc(length);
        fs.readSync(this.fd, bytes, 0, length, at);
        return { at: bytes.readUInt32LE(0), track: bytes.readUInt32LE(4), beams: bytes.readUInt32LE(8), depths: bytes.subarray(HEAD) };
    }

    close() {
        fs.closeSync(this.fd);
    }
}

class Chart {
    constructor() {
        this.cells = new Float64Array(GRID * GRID);
    }

    enter(ping) {
        const tide = 120 * Math.sin((ping.at / 1000) * 2 * Math.PI / 44700);
        for (let beam = 0; beam < ping.beams; beam += 1) {
            const across = (beam - ping.beams / 2) * 0.03;
            const cell = (Math.floor(ping.track / 30) % GRID) * GRID + (Math.floor(ping.at / 250) + beam) % GRID;
            this.cells[cell] = this.cells[cell] * 0.9 + 0.1 * (ping.depths.readUInt16LE(beam * 2) * Math.cos(across) - tide);
        }
    }

    survey(path) {
        const recording = new Recording(path);
        let pings = 0;
        if (STRIPS > 0) {
            for (; pings < STRIPS; pings += 1) this.enter(recording.strip(pings, HEAD + @{beams} * 2));
        } else {
            for (let ping = recording.@{fnCamel}(); ping; ping = recording.@{fnCamel}()) {
                this.enter(ping);
                pings += 1;
            }
        }
        recording.close();
        return pings;
    }
}

const chart = new Chart();
const ship = net.connect(@{port}, '127.0.0.1');
const began = clock();
let units = 0;
let busy = 0;
ship.setNoDelay(true);
readline.createInterface({ input: ship }).on('line', (name) => {
    const start = clock();
    const pings = chart.survey(name);
    busy += clock() - start;
    units += 1;
    console.log(`${name}: ${pings} pings`);
    if (clock() - began < @{seconds}) {
        ship.write('next\n');
    } else {
        fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit: reading }));
        ship.destroy();
    }
});
ship.write('next\n');
