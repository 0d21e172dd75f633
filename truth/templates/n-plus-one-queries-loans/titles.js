// The catalogue of a library: what a reader has at home, and what is known of a title.
'use strict';
const http = require('http');

const AUTHORS = ['Lindqvist', 'Okafor', 'Marchetti', 'Duval', 'Novak', 'Sato', 'Byrne'];

function title(id) {
    return {
        id,
        author: AUTHORS[id % AUTHORS.length],
        name: `Volume ${id} of the collected works`,
        due: 20000 + id % 60,
        daily: 10 + id % 4 * 5,
        shelf: `${String.fromCharCode(65 + id % 20)}${id % 97}`,
    };
}

function loans(reader) {
    return Array.from({ length: @{loans} }, (_, i) => (reader * 131 + i * 17) % 90000);
}

function found(url) {
    const [, kind, key] = url.pathname.split('/');
    if (kind === 'readers') return { reader: Number(key), loans: loans(Number(key)) };
    if (key) return title(Number(key));
    return url.searchParams.get('ids').split(',').map((id) => title(Number(id)));
}

http.createServer((request, response) => {
    const text = JSON.stringify(found(new URL(request.url, 'http://catalogue')));
    setTimeout(() => {
        response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
        response.end(text);
    }, @{answer});
}).listen(@{store}, '127.0.0.1');
