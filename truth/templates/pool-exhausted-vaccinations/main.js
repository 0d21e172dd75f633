// The portal of a travel clinic: into which countries may a traveller go with the vaccinations that the registry knows of?
'use strict';
const http = require('http');

const agent = new http.Agent({ keepAlive: true, maxSockets: @{pool} });
const TODAY = 20050;
const KINDS = ['yellow fever', 'hepatitis A', 'hepatitis B', 'typhoid', 'rabies', 'cholera', 'polio', 'measles'];
const LASTS = { 'yellow fever': 36500, typhoid: 1095, cholera: 730, rabies: 3650 };
const countries = Array.from({ length: @{countries} }, (_, i) => ({
    code: String.fromCharCode(65 + (i % 26)) + String.fromCharCode(65 + ((i * 7) % 26)),
    wants: KINDS.filter((_, k) => (i * 5 + k * 3) % 4 === 0),
}));

function @{fnCamel}(person) {
    return new Promise((done, failed) => {
        const question = http.get({ host: '127.0.0.1', port: @{registry}, path: `/persons/${person}/doses`, agent }, (answer) => {
            const pieces = [];
            answer.on('data', (piece) => pieces.push(piece));
            answer.on('end', () => done(JSON.parse(Buffer.concat(pieces))));
            answer.on('error', failed);
        });
        question.on('error', failed);
    });
}

function admitted(doses) {
    const until = new Map();
    for (const { against, day } of doses) {
        until.set(against, Math.max(until.get(against) ?? 0, day + (LASTS[against] ?? 3650)));
    }
    return countries.map(({ code, wants }) => {
        const missing = wants.filter((kind) => (until.get(kind) ?? 0) < TODAY);
        return missing.length ? { code, missing } : { code, until: Math.min(...wants.map((kind) => until.get(kind))) };
    });
}

http.createServer(async (question, answer) => {
    const found = /^\/travellers\/(\d+)\/entry$/.exec(question.url);
    if (!found) {
        answer.writeHead(404).end();
        return;
    }
    try {
        const text = JSON.stringify(admitted(await @{fnCamel}(Number(found[1]))));
        answer.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }).end(text);
    } catch (error) {
        answer.writeHead(502).end(String(error));
    }
}).listen(@{port}, '127.0.0.1', 64);
