# Profiles of routes: how high each of their points is, and how much there is to climb.
require "json"

CELL = 4096
POINTS = @{points}

class Raster
  def initialize(path)
    @file = File.open(path, "rb")
    @cells = @file.size / CELL
  end

  def @{fn}(cell, size)
    @file.pread(size, cell * CELL)
  end

  def place(number)
    ((number * 0x9e3779b97f4a7c15) & 0xffffffffffffffff) >> 20
  end

  def heights(route)
    if "@{order}" == "travelled"
      Array.new(POINTS) { |point| height(@{fn}(place(route * 7919 + point * 104_729 + 31) % @cells, CELL)) }
    else
      all = @{fn}(place(route) % (@cells - POINTS), POINTS * CELL)
      Array.new(POINTS) { |point| height(all.byteslice(point * CELL, CELL)) }
    end
  end

  # The height is the middle of what a cell says, after it was smoothed.
  def height(cell)
    sums = cell.unpack("C*").each_slice(64).map { |part| part[0] + part[7] / 256.0 }
    (@{smooth} / 10).times do
      (1...sums.size).each { |i| sums[i] = sums[i] * 0.75 + sums[i - 1] * 0.25 }
    end
    sums[sums.size / 2]
  end
end

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

raster = Raster.new("@{work}/@{volume}/@{raster}")
planners = Array.new(@{legs}) do |leg|
  Thread.new do
    units, busy, highest = 0, 0.0, 0.0
    began = now
    while now - began < @{seconds}
      start = now
      heights = raster.heights(units * @{legs} + leg)
      climb = heights.each_cons(2).sum { |one, next_one| [next_one - one, 0].max }
      highest = [highest, climb].max
      units += 1
      busy += now - start
      rest = began + units / @{rate}.to_f - now
      sleep(rest) if rest > 0
    end
    puts format("leg %d: %.1f at most", leg, highest)
    [units, busy]
  end
end
units, seconds = planners.map(&:value).transpose.map(&:sum)
File.write("@{report}", JSON.generate({ units: units, seconds: seconds }))
