// Stock by article; as many connections to the store as were agreed.
'use strict';
const http = require('http');
const net = require('net');

const free = [], waiting = [];

function connect() {
  const store = net.connect(@{store}, '127.0.0.1');
  store.setNoDelay(true);
  store.on('data', (data) => {
    const done = store.done;
    store.done = null;
    const next = waiting.shift();
    if (next) @{fnCamel}(store, next.article, next.done);
    else free.push(store);
    done(String(data));
  });
  return store;
}

function @{fnCamel}(store, article, done) {
  store.done = done;
  store.write(`count ${article}\n`);
}

for (let i = 0; i < @{workers}; i++) free.push(connect());

http.createServer((request, response) => {
  const done = (text) => response.end(text);
  const store = free.pop();
  if (store) @{fnCamel}(store, request.url, done);
  else waiting.push({ article: request.url, done });
}).listen(@{port}, '127.0.0.1', 200);
