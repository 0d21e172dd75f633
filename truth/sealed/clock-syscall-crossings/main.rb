# Sorts the crossings of a tunnel, a batch at a time, and charges the processor time of each to the hauler whose lorry it was.
require 'json'

CROSSINGS = @{crossings}
HAULERS = @{bridges}
CHARGED = Array.new(HAULERS, 0)

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

def @{fn} = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)

def weight(number) = 7500 + number * 13 % 32_500

def batch(number)
  tons = 0
  first = 0
  while first < CROSSINGS
    before = @{fn}
    crossing = first
    last = [first + @{together}, CROSSINGS].min
    while crossing < last
      tons += weight(crossing) / 1000
      crossing += 1
    end
    CHARGED[(number + first) % HAULERS] += @{fn} - before
    first = last
  end
  tons
end

batches = 0
busy = 0.0
tons = 0
began = now
while now - began < @{seconds}
  start = now
  tons += batch(batches)
  batches += 1
  busy += now - start
  rest = start + 1.0 / @{per_s} - now
  sleep rest if rest.positive?
end
File.write('@{report}', JSON.generate(units: batches, seconds: busy, tons: tons, charged: CHARGED.sum / 1000))
