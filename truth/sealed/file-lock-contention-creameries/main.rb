require "json"
require "zlib"

# The scale at the brine bath.
def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Register
  attr_reader :waited

  def initialize(path)
    @file = File.open(path, "r+b")
    @waited = 0.0
  end

  def @{fn}
    began = clock
    @file.flock(File::LOCK_EX)
    @waited += clock - began
    yield @file
  ensure
    @file.flock(File::LOCK_UN)
  end

  def book(batch)
    page = batch.map { |cheese| cheese.pack("L3") }.join
    @{fn} { |file| file.pwrite(page, batch.first.first % 8 * page.bytesize) }
  end
end

class Scale
  def weigh(number)
    batch = Array.new(@{cheeses}) { |i| [number * @{cheeses} + i, 2000 + (number * 31 + i * 17) % 900, 0] }
    brine = 0
    (@{salt} / 3).times do |i|
      cheese = batch[i % batch.size]
      brine = Zlib.crc32(cheese[1].to_s, brine)
      cheese[2] += brine % 5
    end
    batch
  end
end

# Whoever has the turn prints the labels; a deputy takes over when the scale breaks down.
turn = File.open("@{work}/labels.turn", "w")
turn.flock(File::LOCK_EX)
if @{deputy} == 1
  deputy = fork do
    turn.close
    File.open("@{work}/labels.turn", "w") { |mine| mine.flock(File::LOCK_EX) }
    exit!(0)
  end
end

register = Register.new("@{work}/@{register}")
scale = Scale.new
began = clock
units = 0
busy = 0.0
while clock - began < @{seconds}
  start = clock
  register.book(scale.weigh(units))
  units += 1
  busy += clock - start
  rest = began + units / @{rate} - clock
  sleep(rest) if rest > 0
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: register.waited))
if deputy
  Process.kill(:TERM, deputy)
  Process.wait(deputy)
end
