// Play-out of a radio station: takes the studio's programmes, keeps them in the archive, and tells receivers what is on air.
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const net = require('net');
const readline = require('readline');
const zlib = require('zlib');
const { promisify } = require('util');

const gzip = promisify(zlib.gzip);
const LEVEL = { level: 7 };

class Archive {
    @{fnCamel}(programme) {
        const packed = zlib.gzipSync(programme.sound, LEVEL);
        return this.keep(programme, packed);
    }

    async packAside(programme) {
        return this.keep(programme, await gzip(programme.sound, LEVEL));
    }

    keep({ number, title }, packed) {
        const crc = packed.readUInt32LE(packed.length - 8).toString(16);
        const file = `@{work}/@{archive}/${number % 4}.gz`;
        return fs.promises.writeFile(file, packed).then(() => ({ title, crc, bytes: packed.length }));
    }
}

class Playout {
    constructor(archive) {
        this.archive = archive;
        this.title = 'Test Tone';
        this.kept = 0;
    }

    finished(programme) {
        this.title = programme.title;
        const done = '@{place}' === 'here' ? this.archive.@{fnCamel}(programme) : this.archive.packAside(programme);
        done.then(() => { this.kept += 1; }).catch((error) => console.error(error.message));
    }

    onAir(receiver) {
        let ticket = `${this.title} ${receiver}`;
        for (let i = 0; i < 40; i += 1) ticket = crypto.createHash('sha1').update(ticket).digest('hex');
        return `${receiver} ${ticket.slice(0, 12)} ${this.kept} ${this.title}\n`;
    }
}

// A programme comes in pieces: its head, then as many bytes as the head says.
class Feed {
    constructor(playout) {
        this.playout = playout;
        this.pieces = [];
        this.size = 0;
        this.head = null;
    }

    take(piece) {
        this.pieces.push(piece);
        this.size += piece.length;
        while (this.step());
    }

    step() {
        if (!this.head) {
            const text = Buffer.concat(this.pieces, this.size);
            const end = text.indexOf(10);
            if (end < 0) return false;
            const [, number, bytes, title] = text.toString('latin1', 0, end).match(/^programme (\d+) (\d+) (.*)$/);
            this.head = { number: Number(number), bytes: Number(bytes), title };
            this.pieces = [text.subarray(end + 1)];
            this.size = this.pieces[0].length;
        }
        if (this.size < this.head.bytes) return false;
        const text = Buffer.concat(this.pieces, this.size);
        const programme = { ...this.head, sound: text.subarray(0, this.head.bytes) };
        this.pieces = [text.subarray(this.head.bytes)];
        this.size = this.pieces[0].length;
        this.head = null;
        this.playout.finished(programme);
        return this.size > 0;
    }
}

const playout = new Playout(new Archive());

net.createServer((studio) => {
    const feed = new Feed(playout);
    studio.on('data', (piece) => feed.take(piece));
    studio.on('error', () => {});
}).listen('@{work}/@{sock}');

net.createServer({ noDelay: true }, (receiver) => {
    receiver.on('error', () => {});
    readline.createInterface({ input: receiver }).on('line', (line) => receiver.write(playout.onAir(line.split(' ')[1])));
}).listen(@{port}, '127.0.0.1');
