'use strict';
// Pledge tickets for the counters of a chain of pawnshops.
const http = require('node:http');
const crypto = require('node:crypto');
const { spawn } = require('node:child_process');

const TOOL_EACH = @{tool_each};
const ARTICLES = ['ring', 'watch', 'violin', 'camera', 'necklace', 'brooch', 'fur coat', 'candlestick'];
let issued = 0;

function appraise(number) {
  const lines = [];
  let loan = 0;
  for (let i = 0; i < @{lines}; i++) {
    const value = (number * 7919 + i * 104729) % 48000;
    const interest = Math.floor(value * (100 + (i % 7)) / 10000);
    loan += Math.floor(value * 2 / 3) - interest;
    lines.push(`${i + 1}  ${ARTICLES[(number + i) % ARTICLES.length].padEnd(12)} ${(value / 100).toFixed(2)}  interest ${interest}`);
  }
  return { number, lines, loan };
}

function @{fnCamel}(text) {
  return new Promise((resolve, reject) => {
    const tool = spawn('@{algorithm}sum', [], { stdio: ['pipe', 'pipe', 'inherit'] });
    let answer = '';
    tool.stdout.on('data', (part) => { answer += part; });
    tool.on('error', reject);
    tool.on('close', (code) => (code === 0 ? resolve(answer.split(' ')[0]) : reject(new Error(`status ${code}`))));
    tool.stdin.end(text);
  });
}

function digest(text) {
  return crypto.createHash('@{algorithm}').update(text).digest('hex');
}

async function pledge(number) {
  const ticket = appraise(number);
  const text = `${number}\n${ticket.lines.join('\n')}\n${ticket.loan}\n`;
  issued++;
  ticket.seal = TOOL_EACH && issued % TOOL_EACH === 0 ? await @{fnCamel}(text) : digest(text);
  return ticket;
}

http.createServer(async (request, response) => {
  const match = /^\/pledges\/(\d+)$/.exec(request.url);
  if (!match) {
    response.writeHead(404).end();
    return;
  }
  try {
    const body = JSON.stringify(await pledge(Number(match[1])));
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
    response.end(body);
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
}).listen(@{port}, '127.0.0.1');
