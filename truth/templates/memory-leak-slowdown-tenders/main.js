// A portal of public tenders: a bidder asks, and is told what could be won.
const net = require('net')

class Lot {
  constructor(tender, i) {
    this.number = tender * 31 + i
    this.buyer = { town: tender % 97 + i, name: `town ${tender % 97 + i}` }
    this.cents = tender * 7919 + i * i * 37
    this.needs = null
  }
}

class Portal {
  constructor() {
    this.watchers = []
    this.changes = 0
  }

  @{fnCamel}(bidder) {
    const lots = Array.from({ length: @{lots} }, (_, i) => new Lot(bidder, i))
    for (let i = 1; i < lots.length; i++) lots[i].needs = lots[i >> 1]
    const watcher = { bidder, lots, notify: change => { lots[change % lots.length].cents++ } }
    this.watchers.push(watcher)
    if (this.watchers.length > @{most}) this.watchers.shift()
    return watcher
  }

  bid(number) {
    let watcher
    for (let i = 0; i < 6; i++) watcher = this.@{fnCamel}(number * 6 + i)
    watcher.notify(++this.changes)
    return this.best(watcher).join('; ')
  }

  best({ lots }) {
    const offers = []
    for (let i = 0; i < @{bids}; i++) {
      const lot = lots[i * 7 % lots.length]
      offers.push({ name: `lot ${lot.number} for ${lot.buyer.name}, variant ${i}`, score: lot.cents % (i + 11) + (lot.needs?.cents ?? 0) % 13 })
    }
    return offers.sort((a, b) => b.score - a.score).slice(0, 3).map(offer => offer.name)
  }
}

const portal = new Portal()
for (let i = 0; i < @{start}; i++) portal.@{fnCamel}(i)

net.createServer({ noDelay: true }, bidder => {
  let begun = ''
  bidder.setEncoding('utf8')
  bidder.on('error', error => console.error(error.message))
  bidder.on('data', text => {
    const lines = (begun + text).split('\n')
    begun = lines.pop()
    for (const line of lines) bidder.write(portal.bid(Number(line.slice(4))) + '\n')
  })
}).listen(@{port}, '127.0.0.1')
