# Sells tickets for cable cars.
require 'json'
require 'socket'

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

# The prices of all stations, four bytes each.
class Prices
  def initialize(size)
    pattern = Array.new(1 << 14) { |i| 190 + i * 7 % 9000 }.pack('L*')
    @cents = String.new(capacity: size, encoding: Encoding::BINARY)
    @cents << pattern while @cents.bytesize < size
    @rows = @cents.bytesize / 4
  end

  def [](row) = @cents.unpack1('L', offset: row % @rows * 4)

  def cheapest(from, to)
    best = Array.new(@{looks}) { |over| self[from * 4096 + over * 131] + self[to * 4096 + over * 17] }.min
    [best, self[from * 4096 + to]].min
  end

  def sold(from, to, cents)
    @cents[(from * 4096 + to) % @rows * 4, 4] = [cents + 1].pack('L')
  end
end

# Starts the program of the printer's maker, and says whether there was paper.
class Printer
  PROGRAM = '@{work}/bin/@{tool}'
  attr_reader :spent

  def initialize
    @spent = 0.0
  end

  def @{fn}(*words)
    asked = now
    pid = fork { exec(PROGRAM, *words) }
    @spent += now - asked
    Process.wait2(pid).last.success?
  end
end

# The printer in a process of its own, which has nothing but that.
class Bench
  def initialize
    @line, theirs = UNIXSocket.pair(:SEQPACKET)
    fork do
      @line.close
      printer = Printer.new
      while (order = theirs.recv(200)) && !order.empty?
        theirs.send(printer.@{fn}(*order.split(' ')) ? 'done' : 'none', 0)
      end
    end
    theirs.close
  end

  def spent = 0.0

  def @{fn}(*words)
    @line.send(words.join(' '), 0)
    @line.recv(10) == 'done'
  end
end

class Desk
  def initialize(prices, printer)
    @prices = prices
    @printer = printer
  end

  def sell(from, to)
    cents = @prices.cheapest(from, to)
    abort 'no ticket' unless @printer.@{fn}(from.to_s, to.to_s, cents.to_s)
    @prices.sold(from, to, [cents, 9000].min)
  end
end

printer = '@{how}' == 'spawn' ? Bench.new : Printer.new
desk = Desk.new(Prices.new(@{held_mb} << 20), printer)
units = 0
busy = 0.0
due = began = now
while now - began < @{seconds}
  due = [due + 1.0 / @{rate}, now].max
  sleep([due - now, 0].max)
  start = now
  desk.sell(units * 37 % 4096, units * 101 % 4096)
  busy += now - start
  units += 1
end
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: printer.spent))
