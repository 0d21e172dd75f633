// Plans the night of an observatory: for a target, at which minute of the night it is best seen.
'use strict';
const http = require('http');

const agent = new http.Agent({ keepAlive: true, maxSockets: 32 });
const WEIGHTS = { dome: 2, seeing: 5, moon: 3, satellites: 1, wind: 2, clouds: 7 };
const ORDER = '@{order}';

function fetchOne(what, query) {
    return new Promise((done, failed) => {
        http.get({ host: '127.0.0.1', port: @{sky}, path: `/${what}?${query}`, agent }, (answer) => {
            let text = '';
            answer.setEncoding('utf8');
            answer.on('data', (piece) => { text += piece; });
            answer.on('end', () => done(JSON.parse(text).value));
        }).on('error', failed);
    });
}

async function @{fnCamel}(target) {
    const found = {};
    if (ORDER === 'once') {
        await Promise.all(Object.keys(WEIGHTS).map(async (what) => { found[what] = await fetchOne(what, `target=${target}`); }));
        return found;
    }
    let last = 0;
    for (const what of Object.keys(WEIGHTS)) {
        last = found[what] = await fetchOne(what, ORDER === 'chain' ? `target=${target}&after=${last}` : `target=${target}`);
    }
    return found;
}

// The height of the target over the horizon through the night.
function altitudes(target) {
    const heights = [];
    const declination = ((target * 37) % 120 - 40) * Math.PI / 180;
    for (let step = 0; step < @{samples} * 50000; step++) {
        const angle = (step / 50000 - target % 24) * Math.PI / 12;
        const sine = Math.sin(declination) * 0.7 + Math.cos(declination) * 0.714 * Math.cos(angle);
        if (step % 2500 === 0) heights.push(Math.asin(Math.max(-1, Math.min(1, sine))));
    }
    return heights;
}

function best(found, heights) {
    const worth = Object.entries(WEIGHTS).reduce((sum, [what, weight]) => sum + found[what] * weight, 0);
    let minute = 0;
    heights.forEach((height, i) => { if (height > heights[minute]) minute = i; });
    return { minute, worth };
}

http.createServer(async (request, response) => {
    const target = Number(request.url.split('/').pop()) || 0;
    try {
        const found = await @{fnCamel}(target);
        const text = JSON.stringify({ target, ...best(found, altitudes(target)) });
        response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
        response.end(text);
    } catch (error) {
        response.writeHead(502, { 'Content-Length': 0 });
        response.end();
    }
}).listen(@{port}, '127.0.0.1');
