// Collects the values of electricity meters: each is dialled when it is its turn, asked for the last day, and left.
'use strict'
const fs = require('fs')
const net = require('net')
const { performance } = require('perf_hooks')

const log = fs.createWriteStream('@{work}/collector.log')
const sleep = ms => new Promise(done => setTimeout(done, ms))

// One conversation with a meter.
class Call {
  constructor (address, port) {
    this.address = address
    this.port = port
    this.text = ''
  }

  @{fnCamel} () {
    return new Promise((resolve, reject) => {
      this.line = net.connect({ host: this.address, port: this.port, noDelay: true }, resolve)
      this.line.setEncoding('latin1')
      this.line.setTimeout(30000, () => this.line.destroy(new Error('no answer')))
      this.line.on('error', reject)
    })
  }

  ask (number) {
    return new Promise((resolve, reject) => {
      this.line.on('data', text => {
        this.text += text
        if (this.text.endsWith('\n')) resolve(this.text)
      })
      this.line.on('close', () => reject(new Error(`${this.address} hung up`)))
      this.line.write(`day ${number}\n`)
    })
  }

  end () {
    this.line.destroy()
  }
}

class Collector {
  constructor () {
    this.spent = 0
    this.busy = 0
    this.units = 0
    this.days = new Map()
  }

  // Jumps in a day's values are the meter's, not the customer's: the values around decide.
  smooth (values) {
    let line = values
    for (let round = 0; round < @{effort}; round++) {
      line = line.map((value, i) => (2 * value + (line[i - 1] ?? value) + (line[i + 1] ?? value)) / 4)
    }
    return line
  }

  async read (number) {
    const start = performance.now()
    const call = new Call(`127.@{a}.@{b}.${1 + number % @{meters}}`, @{door})
    await call.@{fnCamel}()
    this.spent += performance.now() - start
    const [word, ...values] = (await call.ask(number)).trim().split(' ')
    call.end()
    if (word !== 'values') throw new Error(`meter ${number}: ${word}`)
    const day = this.smooth(values.map(Number))
    this.days.set(number % @{meters}, day.reduce((sum, value) => sum + value, 0))
    this.busy += performance.now() - start
    this.units++
    log.write(`meter ${number}: ${day.length} values\n`)
  }

  async route (first, end) {
    let due = performance.now()
    for (let number = first; performance.now() < end; number += @{workers}) {
      due = Math.max(due + 1000 / @{rate}, performance.now())
      await sleep(Math.max(0, due - performance.now()))
      await this.read(number)
    }
  }
}

// Are the second lines well? What comes of it is in the log.
async function check () {
  for (let number = 1; ; number++) {
    const call = new Call(`127.@{a}.@{b}.${1 + number % @{meters}}`, @{spare})
    try {
      await call.@{fnCamel}()
      call.end()
    } catch (error) {
      log.write(`second line of ${number}: ${error.message}\n`)
    }
    await sleep(400)
  }
}

async function main () {
  const collector = new Collector()
  const end = performance.now() + @{seconds} * 1000
  check()
  await Promise.all(Array.from({ length: @{workers} }, (_, first) => collector.route(first, end)))
  const { units, busy, spent } = collector
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy / 1000, culprit: spent / 1000 }))
  process.exit(0)
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
