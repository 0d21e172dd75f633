// Plans the concerts of an orchestra, one after the other.
const fs = require('fs')
const http = require('http')
const { setTimeout: rest } = require('timers/promises')
const { performance } = require('perf_hooks')

let line = null
let took = 0

// A line to the society, for members only.
class Line {
  constructor() {
    this.agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  }

  async enter() {
    await this.get('/session/orchestra-17')
    return this
  }

  get(path) {
    return new Promise((resolve, reject) => {
      http.get({ host: '127.0.0.1', port: @{society}, path, agent: this.agent }, answer => {
        const parts = []
        answer.on('data', part => parts.push(part))
        answer.on('end', () => resolve(Buffer.concat(parts).toString()))
      }).on('error', reject)
    })
  }

  leave() {
    this.agent.destroy()
  }
}

async function @{fnCamel}(work) {
  const start = performance.now()
  const here = line ?? await new Line().enter()
  const told = JSON.parse(await here.get(`/works/${work}`))
  if ('@{line}' === 'work') here.leave()
  else line = here
  took += performance.now() - start
  return told
}

async function plan(number) {
  const programme = []
  for (let place = 0; place < @{works}; place++) {
    const work = number * 31 + place * 7
    const asks = (number * @{works} + place) % @{free} === 0
    const cents = asks ? (await @{fnCamel}(work)).cents : 0
    programme.push({ work, minutes: 4 + work % 40, cents })
  }
  return JSON.stringify(programme.sort((a, b) => a.minutes - b.minutes))
}

async function main() {
  const began = performance.now()
  let units = 0
  let busy = 0
  while (performance.now() - began < @{seconds} * 1000) {
    const start = performance.now()
    await plan(units)
    units++
    busy += performance.now() - start
    await rest(Math.max(0, began + units * 1000 / @{rate} - performance.now()))
  }
  line?.leave()
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy / 1000, culprit: took / 1000 }))
}

main()
