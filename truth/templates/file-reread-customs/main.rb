# Duties on what the customers of an import house order: clerks (threads) take the orders from a queue.
require "digest"
require "json"

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

# The customs tariff: lines of one length, in the order of their codes.
class Tariff
  LINE = 62

  def initialize(text)
    @text = text
    @count = text.bytesize / LINE
  end

  def find(code)
    key = format("%010d", code)
    at = (0...@count).bsearch { |line| @text.byteslice(line * LINE, 10) >= key }
    return [4.7, "pc"] unless at
    _, _, percent, unit = @text.byteslice(at * LINE, LINE).chomp.split(";")
    [percent.to_f, unit]
  end
end

class Clerk
  PATH = "@{work}/@{folder}/@{tariff}"
  attr_reader :units, :busy, :reading

  def initialize(number)
    @units, @busy, @reading = 0, 0.0, 0.0
    @book = File.open("@{work}/clerk-#{number}.log", "w")
    @kept = @{fn} if @{keep} == 1
  end

  def @{fn} = Tariff.new(File.binread(PATH))

  def risk(order)
    mark = order.to_json
    (@{rounds} * 4).times { mark = Digest::SHA1.hexdigest(mark) }
    mark[0, 4].hex % 100
  end

  def clear(order)
    start = clock
    tariff = @kept || @{fn}
    @reading += clock - start
    duty = order[:items].sum do |item|
      percent, unit = tariff.find(item[:code])
      value = item[:cents] * percent / 100
      unit == "kg" ? value * item[:grams] / 1000.0 : value * item[:many]
    end
    @book.puts(format("%d: duty %.2f, risk %d", order[:number], duty / 100, risk(order)))
    @units += 1
    @busy += clock - start
  end

  def work(orders)
    while (order = orders.pop)
      clear(order)
    end
    @book.close
  end
end

def ordered(number)
  items = Array.new(@{items}) do |i|
    draw = ((number * 2_654_435_761 + i * 40_503) & 0xffffffff) >> 3
    { code: (1 + draw % @{codes}) * 61, cents: 200 + draw % 20_000, many: 1 + draw % 3, grams: 50 + draw % 4000 }
  end
  { number: number, items: items }
end

orders = SizedQueue.new(4 * @{clerks})
clerks = Array.new(@{clerks}) { |number| Clerk.new(number) }
threads = clerks.map { |clerk| Thread.new { clerk.work(orders) } }
began = clock
number = 0
while clock - began < @{seconds}
  orders << ordered(number += 1)
  rest = began + number / @{rate} - clock
  sleep(rest) if rest > 0
end
orders.close
threads.each(&:join)
File.write("@{report}", JSON.generate(units: clerks.sum(&:units), seconds: clerks.sum(&:busy), culprit: clerks.sum(&:reading)))
