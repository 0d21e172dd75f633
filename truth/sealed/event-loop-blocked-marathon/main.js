// The timing of a marathon: "pass N" notes when runner N came over a mat, and is answered by the place. The sheet of all times is saved again and again.
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const net = require('net');
const readline = require('readline');
const zlib = require('zlib');
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');

const RECORD = 64;
const KEPT = 3;

class Sheet {
    constructor(memory) {
        this.memory = memory;
        this.bytes = Buffer.from(memory);
        this.passed = 0;
    }

    note(runner) {
        const at = (runner * 4099 * RECORD) % (this.bytes.length - RECORD);
        this.bytes.writeUInt32LE(runner, at);
        this.bytes.writeDoubleLE(Date.now(), at + 8);
        return ++this.passed;
    }

    @{fnCamel}(number) {
        const name = (which) => `@{work}/@{folder}/@{prefix}${which}`;
        const file = fs.openSync(name(number), 'w');
        try {
            const sum = Buffer.alloc(8);
            sum.writeUInt32LE(zlib.crc32(this.bytes));
            for (let at = 0; at < this.bytes.length; ) at += fs.writeSync(file, this.bytes, at, Math.min(1 << 20, this.bytes.length - at));
            fs.writeSync(file, sum);
            fs.fsyncSync(file);
        } finally {
            fs.closeSync(file);
        }
        fs.rmSync(name(number - KEPT), { force: true });
    }
}

// The slip that the runner gets at the end: hard to make up.
function slip(runner, place) {
    let sum = Buffer.from(`${runner} ${place}`);
    for (let i = 0; i < @{rounds}; i++) sum = crypto.createHash('sha1').update(sum).digest();
    return sum.toString('hex', 0, 5);
}

function serve(sheet) {
    net.createServer((mat) => {
        mat.setNoDelay(true);
        mat.on('error', () => {});
        readline.createInterface({ input: mat }).on('line', (line) => {
            const runner = Number(line.split(' ')[1]);
            const place = sheet.note(runner);
            mat.write(`${place} ${slip(runner, place)}\n`);
        });
    }).listen(@{port}, '127.0.0.1');
}

function main() {
    const sheet = new Sheet(new SharedArrayBuffer(@{kb} * 1024));
    let number = 0;
    serve(sheet);
    if ('@{place}' === 'here') {
        const save = () => {
            try {
                sheet.@{fnCamel}(++number);
            } catch (error) {
                console.error(error.message);
            }
            setTimeout(save, @{every});
        };
        setTimeout(save, @{every});
        return;
    }
    const clerk = new Worker(__filename, { workerData: sheet.memory });
    clerk.on('message', (fault) => {
        if (fault) console.error(fault);
        setTimeout(() => clerk.postMessage(++number), @{every});
    });
    clerk.postMessage(++number);
}

if (isMainThread) {
    main();
} else {
    const sheet = new Sheet(workerData);
    parentPort.on('message', (number) => {
        try {
            sheet.@{fnCamel}(number);
            parentPort.postMessage(null);
        } catch (error) {
            parentPort.postMessage(error.message);
        }
    });
}
