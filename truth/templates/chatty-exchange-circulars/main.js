// Sends the circulars of a rowing club: "circular N" mails number N to its crew, and is answered by what the relay said.
'use strict';
const net = require('net');
const readline = require('readline');

const BOATS = ['Albatros', 'Heron', 'Kingfisher', 'Otter', 'Pike'];
const SENDER = 'boathouse@club.example';

class Mailer {
    #replies = [];
    #early = [];
    #line;

    static async open(port) {
        const mailer = new Mailer(port);
        await mailer.expect('220');
        await mailer.command('EHLO boathouse.club.example', '250');
        return mailer;
    }

    constructor(port) {
        this.#line = net.connect({ port, host: '127.0.0.1', noDelay: true });
        readline.createInterface({ input: this.#line }).on('line', (text) => {
            // "250-" goes on in the next line.
            if (text[3] !== '-') this.#arrived(text);
        });
        this.#line.on('error', (error) => this.#replies.splice(0).forEach(({ reject }) => reject(error)));
    }

    #arrived(text) {
        const waiting = this.#replies.shift();
        if (waiting) waiting.resolve(text);
        else this.#early.push(text);
    }

    async expect(code) {
        const reply = this.#early.shift() ?? (await new Promise((resolve, reject) => this.#replies.push({ resolve, reject })));
        if (!reply.startsWith(code)) throw new Error(`the relay says ${reply}`);
        return reply.slice(4);
    }

    command(text, code) {
        this.#line.write(`${text}\r\n`);
        return this.expect(code);
    }

    async @{fnCamel}(circular) {
        const recipients = circular.crew.map((address) => `RCPT TO:<${address}>`);
        if (@{ahead}) {
            this.#line.write([`MAIL FROM:<${SENDER}>`, ...recipients, 'DATA', ''].join('\r\n'));
            await Promise.all([this.expect('250'), ...recipients.map(() => this.expect('250')), this.expect('354')]);
        } else {
            await this.command(`MAIL FROM:<${SENDER}>`, '250');
            for (const recipient of recipients) await this.command(recipient, '250');
            await this.command('DATA', '354');
        }
        return this.command(`X-Seal: ${circular.seal}\r\n${circular.text}.`, '250');
    }

    close() {
        this.#line.destroy();
    }
}

function seal(text) {
    const bytes = Buffer.from(text);
    let sum = 0x811c9dc5;
    for (let round = 0; round < @{rounds}; round++) {
        for (let i = 0; i < bytes.length; i++) sum = Math.imul(sum ^ bytes[i], 0x01000193);
    }
    return (sum >>> 0).toString(16).padStart(8, '0');
}

function compose(number) {
    const boat = BOATS[number % BOATS.length];
    const weeks = Array.from({ length: 30 }, (_, week) => {
        const at = `${6 + ((number + week) % 12)}:${String((number * week) % 60).padStart(2, '0')}`;
        return `Week ${week + 1}: ${boat} leaves the stage at ${at}, bring water and a spare jersey.\r\n`;
    });
    const text = `From: Boathouse <${SENDER}>\r\nSubject: ${boat}, outing ${number}\r\n\r\n${weeks.join('')}`;
    const crew = Array.from({ length: @{members} }, (_, seat) => `rower${(number * 31 + seat * 17) % 900}@club.example`);
    return { number, crew, text, seal: seal(text) };
}

net.createServer(async (caller) => {
    caller.setNoDelay(true);
    caller.on('error', () => {});
    const opening = Mailer.open(@{relay});
    caller.on('close', async () => (await opening).close());
    for await (const line of readline.createInterface({ input: caller })) {
        const number = Number(line.split(' ')[1]);
        try {
            const mailer = await opening;
            caller.write(`${number} ${await mailer.@{fnCamel}(compose(number))}\n`);
        } catch (error) {
            console.error(number, error.message);
            caller.destroy();
        }
    }
}).listen(@{port}, '127.0.0.1');
