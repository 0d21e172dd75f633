// A society that knows who has the rights of a piece of music, and what it costs to play it.
const crypto = require('crypto')
const http = require('http')

const terms = 'played in a hall of up to 2000 seats, '.repeat(60).slice(0, @{bytes})

const server = http.createServer((request, response) => {
  if (request.url.startsWith('/session/')) {
    const key = crypto.pbkdf2Sync(request.url.slice(9), 'works and rights', @{rounds}, 32, 'sha256')
    request.socket.member = key.toString('hex').slice(0, 12)
    response.writeHead(204)
    response.end()
    return
  }
  if (!request.socket.member) {
    response.writeHead(403, { 'Content-Length': 0 })
    response.end()
    return
  }
  const work = Number(request.url.split('/').pop())
  const body = JSON.stringify({ work, holder: `publisher ${work % 37}`, cents: work * 7919 % 90000, terms })
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
  response.end(body)
})
server.keepAliveTimeout = 60000
server.listen(@{society}, '127.0.0.1', 511)
