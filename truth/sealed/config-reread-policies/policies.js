// Who may enter which room, and when. A question: room (4 bytes), hour (1). An answer: 1 or 0 (1 byte).
'use strict';
const fs = require('fs');
const net = require('net');

const FILE = '@{work}/@{file}', READ = '@{read}';

function @{fnCamel}() {
    const rules = new Map();
    for (const line of fs.readFileSync(FILE, 'utf8').split('\n')) {
        if (!line) continue;
        const [action, path, from, groups] = line.split(';');
        rules.set(path, { allowed: action === 'allow', from: Number(from), groups: groups.split(',') });
    }
    return rules;
}

let kept = READ === 'each' ? null : @{fnCamel}();
if (READ === 'timer') setInterval(() => { kept = @{fnCamel}(); }, @{often});

function decide(room, hour) {
    const rules = kept || @{fnCamel}();
    const rule = rules.get(`/area/${room % 97}/room/${room}`);
    return rule && rule.allowed && hour >= rule.from && rule.groups.includes('staff') ? 1 : 0;
}

net.createServer((gate) => {
    let inbox = Buffer.alloc(0);
    gate.on('error', () => {});
    gate.on('data', (data) => {
        inbox = Buffer.concat([inbox, data]);
        while (inbox.length >= 5) {
            gate.write(Buffer.from([decide(inbox.readUInt32BE(0), inbox[4])]));
            inbox = inbox.subarray(5);
        }
    });
}).listen('@{work}/@{sock}');
