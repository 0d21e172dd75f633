# Tells fishermen what is under the keel: the cells of the sea chart along a course.
require 'json'

CELL = @{cell}
WIDE = @{wide}
COUNT = @{cells}

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Chart
  attr_reader :reading

  def initialize(path)
    @file = File.open(path, 'rb')
    @size = @file.size / CELL
    @reading = 0.0
  end

  def @{fn}(x, y)
    start = now
    cells = Array.new(COUNT) { |n| @file.pread(CELL, ((y + n / 9) * WIDE + x + n % 9) % @size * CELL) }
    @reading += now - start
    cells
  end
end

chart = Chart.new('@{work}/@{mount}/@{chart}')
units = 0
busy = 0.0
deepest = 0
began = now
while now - began < @{seconds}
  start = now
  course = chart.@{fn}(units * 4 % 24, units * 3 % 18)
  deepest = [deepest, course.map { |cell| cell.getbyte(1) || 0 }.max].max
  units += 1
  busy += now - start
  rest = start + 1.0 / @{per_s} - now
  sleep rest if rest.positive?
end
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: chart.reading, deepest: deepest))
