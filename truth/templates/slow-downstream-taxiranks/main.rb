# A taxi office: sends cabs to who calls.
require "io/wait"
require "json"
require "socket"

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

class Positions
  def initialize
    @line = UDPSocket.new
    @line.connect("127.0.0.1", @{port})
    @number = 0
  end

  def ask(word, rest, patience)
    @number += 1
    @line.send("#{word} #{@number} #{rest}", 0)
    loop do
      raise "no answer to #{word}" unless @line.wait_readable(patience)
      number, *places = @line.recv(4096).split.map(&:to_i)
      return places.each_slice(2).to_a if number == @number
    end
  end

  def @{fn}(x, y)
    ask("NEAR", "#{x} #{y}", 3)
  end
end

$jam = 0

def far(ax, ay, bx, by)
  (ax - bx)**2 + (ay - by)**2 + $jam
end

# Which cab, and by what way past the ranks: tried for as long as a caller does not mind.
def choose(cabs, x, y)
  best = 1 << 30
  finish = now + @{effort} / 1000.0
  while now < finish
    20.times do
      (cx, cy), rx, ry = cabs.sample, rand(100), rand(100)
      best = [best, far(cx, cy, rx, ry) / 3 + far(rx, ry, x, y), far(cx, cy, x, y)].min
    end
  end
  best
end

if @{news} > 0
  Thread.new do
    town = Positions.new
    loop { $jam = town.ask("NEWS", "", 60)[0][0] }
  end
end
service = Positions.new
units, busy, waited = 0, 0.0, 0.0
began = now
while now - began < @{seconds}
  start = now
  x, y = rand(100), rand(100)
  cabs = service.@{fn}(x, y)
  waited += now - start
  choose(cabs, x, y)
  units += 1
  busy += now - start
  rest = began + units / (@{rate} * 2.0) - now
  sleep(rest) if rest > 0
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: waited))
