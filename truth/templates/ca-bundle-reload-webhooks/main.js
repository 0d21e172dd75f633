// Sends the events of a shop's stock to those who sell for it: each has a host of its own that takes them.
'use strict'
const crypto = require('crypto')
const fs = require('fs')
const https = require('https')
const tls = require('tls')
const { performance } = require('perf_hooks')

const HOST = 'hooks.example.net'
const log = fs.createWriteStream('@{work}/events.log')
const sleep = ms => new Promise(done => setTimeout(done, ms))

class Seller {
  constructor (number) {
    this.address = `127.@{a}.@{b}.${number + 1}`
    this.key = crypto.createHash('sha256').update(`seller ${number}`).digest()
    this.taken = 0
  }

  sign (body) {
    let mark = body
    for (let round = 0; round < @{effort}; round++) mark = crypto.createHmac('sha256', this.key).update(mark + body).digest('hex')
    return mark
  }
}

class Sender {
  constructor () {
    this.sellers = Array.from({ length: @{subscribers} }, (_, number) => new Seller(number))
    this.spent = 0
    this.context = null
    this.made = 0
  }

  @{fnCamel} () {
    const asked = performance.now()
    if (this.context === null || asked - this.made >= @{keep} * 1000) {
      this.context = tls.createSecureContext({ ca: fs.readFileSync('@{work}/@{bundle}') })
      this.made = asked
    }
    return this.context
  }

  post (seller, body) {
    const asked = performance.now()
    const secureContext = this.@{fnCamel}()
    this.spent += performance.now() - asked
    const options = {
      host: seller.address,
      servername: HOST,
      port: @{port},
      path: '/stock',
      method: 'POST',
      agent: false,
      secureContext,
      headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), 'X-Mark': seller.sign(body) }
    }
    return new Promise((resolve, reject) => {
      const request = https.request(options, answer => {
        answer.resume()
        answer.on('end', () => resolve(answer.statusCode))
      })
      request.setTimeout(10000, () => request.destroy(new Error('no answer')))
      request.on('error', reject)
      request.end(body)
    })
  }

  async tell (event) {
    const seller = this.sellers[event.article % this.sellers.length]
    const status = await this.post(seller, JSON.stringify(event))
    if (status === 202) seller.taken++
    log.write(`${new Date().toISOString()} article ${event.article} to ${seller.address}: ${status}\n`)
  }
}

function eventOf (number) {
  const places = []
  for (let i = 0; i < @{lines}; i++) places.push({ shelf: (number * 13 + i) % 700, count: (number + i * 5) % 40 })
  return { article: number, places, left: places.reduce((sum, place) => sum + place.count, 0) }
}

async function main () {
  const sender = new Sender()
  sender.@{fnCamel}()
  let units = 0
  let busy = 0
  const finish = performance.now() + @{seconds} * 1000
  let due = performance.now()
  while (performance.now() < finish) {
    due = Math.max(due + 1000 / @{rate}, performance.now())
    await sleep(Math.max(0, due - performance.now()))
    const start = performance.now()
    await sender.tell(eventOf(units))
    busy += performance.now() - start
    units++
  }
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy / 1000, culprit: sender.spent / 1000 }))
  log.end()
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
