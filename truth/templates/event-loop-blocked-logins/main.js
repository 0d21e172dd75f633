// The door of a shop: visitors look at pages, and some of them log in.
const http = require('http');
const crypto = require('crypto');

const ROUNDS = Math.round(@{ms} * 2200);
const users = new Map();
const sessions = new Map();
const pages = Array.from({ length: 40 }, (_, i) => `<h1>Shelf ${i}</h1>` + '<p>oak, beech, pine</p>'.repeat(20 + i));

for (let i = 0; i < @{users}; i++) {
  users.set(`user-${i}`, { salt: crypto.randomBytes(16), key: null, visits: 0 });
}

function @{fnCamel}(password, salt) {
  return crypto.pbkdf2Sync(password, salt, ROUNDS, 32, 'sha256');
}

function inThePool(password, salt) {
  return new Promise((resolve, reject) => {
    crypto.pbkdf2(password, salt, ROUNDS, 32, 'sha256', (error, key) => (error ? reject(error) : resolve(key)));
  });
}

async function keyOf(password, salt) {
  return '@{place}' === 'here' ? @{fnCamel}(password, salt) : inThePool(password, salt);
}

async function login(name, password) {
  const user = users.get(name);
  if (!user) return null;
  const key = await keyOf(password, user.salt);
  if (!user.key) user.key = key;
  if (!crypto.timingSafeEqual(key, user.key)) return null;
  const token = crypto.randomBytes(12).toString('hex');
  sessions.set(token, { name, since: Date.now() });
  user.visits++;
  return token;
}

function forgetOld() {
  for (const [token, session] of sessions) {
    if (Date.now() - session.since > 60000) sessions.delete(token);
  }
}

function show(answer, status, text, type = 'text/html') {
  answer.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) });
  answer.end(text);
}

const server = http.createServer(async (request, answer) => {
  const visit = Number(request.url.split('/').pop()) || 0;
  if (Math.floor(visit * 37 / 11) % @{turn} === 0) {
    const name = `user-${visit % @{users}}`;
    const token = await login(name, `secret of ${name}`);
    return show(answer, token ? 200 : 403, JSON.stringify({ token }), 'application/json');
  }
  return show(answer, 200, pages[visit % pages.length]);
});

setInterval(forgetOld, 5000);
server.listen(@{port}, '127.0.0.1');
