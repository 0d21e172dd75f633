# Applies rules to rows, each with a budget of time of the processor.
require "json"

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

def wait_until(due)
  rest = due - now
  sleep(rest) if rest > 0
end

def report(units, seconds, culprit)
  File.write("@{report}", JSON.generate({ units: units, seconds: seconds, culprit: culprit }))
end

class Budget
  def initialize(limit)
    @limit = limit
    @used = 0.0
  end

  def @{fn}
    used = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    raise "over budget" if used - @used > @limit
    @used = used
  end
end

budget = Budget.new(60)
rules = Array.new(@{width}) { |i| [i * 7, i * 7 + 50, i] }
totals = Hash.new(0)
units, busy, culprit, n = 0, 0.0, 0.0, 0
began = now
while now - began < @{seconds}
  start = now
  row = 0
  while row < @{rows} / 4
    value = (n * 7919) % 1009
    if @{every} > 0 && row % @{every} == 0
      # Every 16th is measured, and stands for the others.
      from = @{every} > 1 || n % 16 == 0 ? now : nil
      @{stamps}.times { budget.@{fn} }
      culprit += (now - from) * (@{every} > 1 ? 1 : 16) if from
    end
    rule = rules[value % rules.size]
    totals[rule[2]] += 1 if value >= rule[0] && value < rule[1]
    n += 1
    row += 1
  end
  units += 1
  busy += now - start
  wait_until(began + units.to_f / @{rate})
end
report(units, busy, culprit)
