# Plans the rounds of carers: who visits whom, and in which order.
require 'json'

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

Visit = Struct.new(:person, :x, :y) do
  def to(other) = Math.hypot(x - other.x, y - other.y)
end

# What the platform's log gets: a line for each step.
class Journal
  attr_reader :spent

  def initialize
    @spent = 0.0
    @number = 0
  end

  def @{fn}(text)
    @number += 1
    line = format('%<at>10d rounds[%<pid>6d] INFO %<number>8d %<text>s', at: Time.now.to_i, pid: $$, number: @number, text: text)
    start = now
    $stdout.write(line.ljust(@{width} + 39), "\n")
    @spent += now - start
  end
end

class Planner
  STOPS = [@{stops} / 4, 25].max

  def initialize(journal)
    @journal = journal
  end

  def visits(district)
    Array.new(STOPS) do |i|
      mixed = (district * 7919 + i) * 2_654_435_761 % (1 << 32)
      Visit.new(district * 1000 + i, mixed >> 20, mixed >> 8 & 0xfff)
    end
  end

  def plan(district)
    open = visits(district)
    round = [open.shift]
    length = 0.0
    until open.empty?
      nearest = open.min_by { |visit| round.last.to(visit) }
      length += round.last.to(nearest)
      round << open.delete(nearest)
    end
    tell(district, round, length)
    length
  end

  def tell(district, round, length)
    @{lines}.times do |i|
      visit = round[i * round.size / @{lines}]
      @journal.@{fn}("district #{district} person #{visit.person} at #{visit.x},#{visit.y} of #{length.round} m")
    end
  end
end

# The platform reads what a service prints from here.
$stdout.reopen('@{work}/@{pipe}', 'w')
$stdout.sync = true
journal = Journal.new
planner = Planner.new(journal)
units = 0
busy = 0.0
due = began = now
File.open('@{work}/rounds.csv', 'w') do |rounds|
  while now - began < @{seconds}
    due = [due + 1.0 / @{rate}, now].max
    sleep([due - now, 0].max)
    start = now
    rounds.puts("#{units};#{planner.plan(units).round}")
    busy += now - start
    units += 1
  end
end
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: journal.spent))
exit!(0)
