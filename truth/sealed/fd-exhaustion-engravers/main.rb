# Takes orders for engraving: reckons the path of the needle over a motif, and enters it on the customer's card.
require "digest"
require "json"

Process.setrlimit(:NOFILE, @{limit})

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Desk
  attr_reader :late, :opening

  def initialize
    @cards = {}
    @late = 0
    @opening = 0.0
  end

  def path_of(motif)
    text = File.read("@{work}/@{designs}/motif-#{motif}.txt")
    x = y = length = 0
    text.each_byte do |byte|
      dx, dy = byte % 7 - 3, byte / 7 % 7 - 3
      x += dx
      y += dy
      length += dx.abs + dy.abs
    end
    [length, x, y, Digest::SHA1.hexdigest(text)[0, 8]]
  end

  def @{fn}(customer)
    start = now
    @cards[customer] ||= File.open("@{work}/@{cards}/c#{customer}.card", "a")
  ensure
    @opening += now - start
  end

  def order(number)
    customer = 1000 + number * 17
    card = @{fn}(customer)
    length, x, y, mark = path_of(number % 40)
    card.puts "order #{number}: #{length} steps to #{x},#{y}, #{mark}"
    card.flush
    @cards.shift[1].close while @cards.size > @{hold}
  rescue SystemCallError => problem
    @late += 1
    warn "order #{number} is put off: #{problem.message}" if @late % 50 == 1
  end

  def close
    @cards.each_value(&:close)
  end
end

desk = Desk.new
units = 0
busy = 0.0
began = now
while now - began < @{seconds}
  start = now
  desk.order(units)
  units += 1
  busy += now - start
  sleep [0, began + units / @{rate}.to_f - now].max
end
desk.close
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: desk.opening, late: desk.late))
