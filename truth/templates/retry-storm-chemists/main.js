// The counters of a pharmacy: GET /prescriptions/N tells what the patient pays, and what the insurer does.
'use strict';
const crypto = require('crypto');
const http = require('http');
const net = require('net');
const readline = require('readline');

class ClearingHouse {
    constructor(port) {
        this.last = 0;
        this.waiting = new Map();
        this.line = net.connect({ port, host: '127.0.0.1', noDelay: true });
        this.line.on('error', (error) => { throw error; });
        readline.createInterface({ input: this.line }).on('line', (text) => {
            const { id, result } = JSON.parse(text);
            const done = this.waiting.get(id);
            this.waiting.delete(id);
            done?.(result);
        });
    }

    @{fnCamel}(method, params, id = ++this.last) {
        const text = JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\n';
        return new Promise((resolve, reject) => {
            let timer;
            let limit = @{limit};
            let left = @{tries};
            const send = () => {
                if (left-- === 0) {
                    this.waiting.delete(id);
                    reject(new Error('the clearing house does not answer'));
                    return;
                }
                this.line.write(text);
                timer = setTimeout(send, limit);
                limit *= @{growth};
            };
            this.waiting.set(id, (result) => {
                clearTimeout(timer);
                resolve(result);
            });
            send();
        });
    }
}

// The mark on a package, by which a counterfeit is told.
function mark(number) {
    let sum = Buffer.from(String(number));
    for (let i = 0; i <= @{rounds} / 6; i++) sum = crypto.createHash('sha1').update(sum).digest();
    return sum.toString('hex', 0, 6);
}

const house = new ClearingHouse(@{house});
if (@{ask}) {
    setInterval(() => house.@{fnCamel}('open', undefined, 0).catch((error) => console.error(error.message)), @{ask});
}

http.createServer(async (request, response) => {
    const found = /^\/prescriptions\/(\d+)$/.exec(request.url);
    if (!found) {
        response.writeHead(404).end();
        return;
    }
    const prescription = Number(found[1]);
    const cents = 400 + ((prescription * 7919) % 9000);
    try {
        const { pays } = await house.@{fnCamel}('cover', { prescription, insurer: prescription % 90, cents });
        response.setHeader('Content-Type', 'application/json');
        response.end(JSON.stringify({ mark: mark(prescription), insurer: pays, patient: cents - pays }));
    } catch (error) {
        console.error(prescription, error.message);
        response.writeHead(504).end(error.message);
    }
}).listen(@{port}, '127.0.0.1');
