// Plans the rounds of a waste collection: which streets, in which order.
const fs = require('fs')
const net = require('net')
const path = require('path')

const SCRATCH = '@{work}/@{scratch}'
let serial = 0

class Sorter {
  constructor(limit) {
    this.limit = limit
    this.lines = []
    this.runs = []
  }

  add(line) {
    this.lines.push(line)
    if (this.lines.length >= this.limit) this.@{fnCamel}()
  }

  @{fnCamel}() {
    const file = path.join(SCRATCH, `@{prefix}${process.pid}-${++serial}`)
    fs.writeFileSync(file, this.lines.sort().join('\n'))
    this.runs.push(file)
    this.lines = []
  }

  // Merges two sorted runs, until one is left.
  sorted() {
    let runs = [this.lines.sort(), ...this.runs.map(file => fs.readFileSync(file, 'utf8').split('\n'))]
    while (runs.length > 1) {
      const next = []
      for (let i = 0; i < runs.length; i += 2) next.push(i + 1 < runs.length ? merged(runs[i], runs[i + 1]) : runs[i])
      runs = next
    }
    return runs[0]
  }

  close() {
    for (const file of this.runs) fs.unlinkSync(file)
  }
}

function merged(left, right) {
  const all = new Array(left.length + right.length)
  let l = 0
  let r = 0
  for (let at = 0; at < all.length; at++) {
    all[at] = r >= right.length || (l < left.length && left[l] <= right[r]) ? left[l++] : right[r++]
  }
  return all
}

function bin(round, i) {
  const mixed = Math.imul(round * 7919 + i, 2654435761) >>> 0
  return `street ${1000 + (mixed >>> 20)} house ${mixed >>> 8 & 255} bin ${i} ${mixed % 100}% full`
}

function plan(round, bins, limit) {
  const sorter = new Sorter(limit)
  try {
    for (let i = 0; i < bins; i++) sorter.add(bin(round, i))
    const lines = sorter.sorted()
    let streets = 0
    let last = ''
    for (const line of lines) {
      const street = line.slice(0, 11)
      if (street !== last) streets++
      last = street
    }
    return `${streets} streets, first ${lines[0]}`
  } finally {
    sorter.close()
  }
}

if (@{year}) {
  let year = 2000
  setInterval(() => plan(++year, 12000, 5000), @{year} * 1000)
}

net.createServer({ noDelay: true }, depot => {
  let begun = ''
  depot.setEncoding('utf8')
  depot.on('error', error => console.error(error.message))
  depot.on('data', text => {
    const lines = (begun + text).split('\n')
    begun = lines.pop()
    for (const line of lines) {
      const number = Number(line.split(' ')[1])
      depot.write(`round ${number}: ${plan(number, @{bins}, @{most})}\n`)
    }
  })
}).listen(@{port}, '127.0.0.1')
