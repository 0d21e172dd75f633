// Hands the readings of electricity meters over to the collector of the grid.
'use strict';
const fs = require('fs');
const net = require('net');
const path = require('path');
const { setTimeout: pause } = require('timers/promises');

const FRAME = @{frame};
const now = () => Number(process.hrtime.bigint()) / 1e9;

class Collector {
    constructor(socket) {
        this.line = net.connect(socket);
        this.waiting = [];
        this.inbox = Buffer.alloc(0);
        this.line.on('data', (data) => this.received(data));
        this.line.on('error', (error) => { throw error; });
    }

    received(data) {
        this.inbox = this.inbox.length ? Buffer.concat([this.inbox, data]) : data;
        while (this.inbox.length >= 8) {
            this.waiting.shift()({ count: this.inbox.readUInt32BE(0), sum: this.inbox.readUInt32BE(4) });
            this.inbox = this.inbox.subarray(8);
        }
    }

    hand(meter, readings) {
        const frame = Buffer.alloc(8 + readings.length * 8);
        frame.writeUInt32BE(frame.length - 4, 0);
        frame.writeUInt32BE(meter, 4);
        readings.forEach((reading, i) => {
            frame.writeUInt32BE(reading.time, 8 + i * 8);
            frame.writeUInt32BE(reading.watts, 12 + i * 8);
        });
        return new Promise((done) => {
            this.waiting.push(done);
            this.line.write(frame);
        });
    }

    close() {
        this.line.end();
    }
}

async function loadReadings(meter) {
    const text = await fs.promises.readFile(path.join('@{work}/@{inbox}', `meter-${meter}.csv`), 'utf8');
    return text.trimEnd().split('\n').map((line) => {
        const [time, kilowatts, origin] = line.split(';');
        return { time: Number(time), watts: Math.round(parseFloat(kilowatts) * 1000), measured: origin === 'measured' };
    });
}

function byHour(readings) {
    const hours = new Map();
    for (const { time, watts, measured } of readings) {
        const name = new Date(time * 1000).toISOString().slice(0, 13);
        const hour = hours.get(name) || { watts: 0, count: 0, measured: 0 };
        hour.watts += watts;
        hour.count += 1;
        hour.measured += measured ? 1 : 0;
        hours.set(name, hour);
    }
    return hours;
}

async function @{fnCamel}(collector, meter, readings) {
    let sum = 0;
    for (let at = 0; at < readings.length; at += FRAME) {
        const frame = readings.slice(at, at + FRAME);
        const receipt = await collector.hand(meter, frame);
        if (receipt.count !== frame.length) throw new Error(`meter ${meter}: ${receipt.count} of ${frame.length}`);
        sum += receipt.sum;
    }
    return sum;
}

async function main() {
    const collector = new Collector('@{work}/@{sock}');
    const journal = [];
    let units = 0, busy = 0, handing = 0;
    const began = now();
    for (let start = began; start - began < @{seconds}; start = now()) {
        const meter = units % @{meters} + 1;
        const readings = await loadReadings(meter);
        const hours = byHour(readings);
        const due = readings.filter((_, i) => i % @{every} === 0);
        const asked = now();
        const sum = await @{fnCamel}(collector, meter, due);
        handing += now() - asked;
        journal.push(`meter ${meter}: ${hours.size} hours, ${due.length} readings, ${sum} W`);
        if (journal.length > 200) journal.shift();
        units += 1;
        busy += now() - start;
        const rest = began + units / @{pace} - now();
        if (rest > 0) await pause(rest * 1000);
    }
    collector.close();
    fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit: handing }));
}

main();
