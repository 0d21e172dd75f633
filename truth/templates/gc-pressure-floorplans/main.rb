# An editor of floor plans: draughtsmen move walls, doors and furniture, and may undo what they did.
require 'json'

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

Thing = Struct.new(:id, :label, :at, :wide)

class Plan
  attr_reader :things

  def initialize
    @things = Array.new(@{size}) do |i|
      Thing.new(i, "thing #{i} of room #{i / 9}", [i * 37 % 900, i * 53 % 700], 5 + i % 60)
    end
    @steps = []
  end

  def @{fn}(things)
    things.map { |thing| Thing.new(thing.id, thing.label, [thing.at[0], thing.at[1]], thing.wide) }
  end

  def move(number, x, y)
    at = @things[number].at
    @steps << ('@{way}' == 'whole' ? @{fn}(@things) : [number, *at])
    @steps.shift if @steps.size > @{steps}
    at[0] = x
    at[1] = y
  end

  def undo
    step = @steps.pop
    if '@{way}' == 'whole'
      @things = step
    else
      number, x, y = step
      @things[number].at = [x, y]
    end
  end

  # Which things lie in the way of one.
  def collisions(number)
    moved = @things[number]
    x, y = moved.at
    @things.count do |thing|
      there = thing.at
      !thing.equal?(moved) && (there[0] - x).abs < thing.wide && (there[1] - y).abs < thing.wide
    end
  end
end

plan = Plan.new
units = blocked = 0
busy = culprit = 0.0
began = now
while now - began < @{seconds}
  start = now
  collected = GC.stat(:time)
  10.times do |i|
    number = (units * 10 + i) * 7 % @{size}
    plan.move(number, (units + i * 91) % 900, (units * 3 + i * 17) % 700)
    if plan.collisions(number) > 12
      plan.undo
      blocked += 1
    end
  end
  units += 1
  culprit += (GC.stat(:time) - collected) / 1000.0
  busy += now - start
  rest = began + units / @{rate}.to_f - now
  sleep rest if rest > 0
end
warn "#{blocked} moves were blocked"
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: culprit))
