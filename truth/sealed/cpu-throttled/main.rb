# Ranks the offers of a market; children rank, the parent gives out the work and waits for the answers.
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

def @{fn}(offer, ms)
  value = offer
  (ms * 23000).times { |i| value = (value * 31 + i) % 1_000_003 }
  value
end

File.write("@{work}/limits/cgroup.procs", Process.pid.to_s)
asks, give = IO.pipe
take, answers = IO.pipe
child = fork do
  give.close
  take.close
  while (line = asks.gets)
    offer, ms = line.split.map(&:to_i)
    before = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    rank = @{fn}(offer, ms)
    answers.puts("#{rank} #{Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - before}")
    answers.flush
  end
end
asks.close
answers.close
units, busy, culprit = 0, 0.0, 0.0
began = now
while now - began < @{seconds}
  start = now
  give.puts("#{units} #{@{heavy} > 0 && units % @{heavy} == 5 ? 45 : @{small_ms}}")
  give.flush
  _, used = take.gets.split
  took = now - start
  units += 1
  busy += took
  culprit += [0.0, took - used.to_f].max
  wait_until(began + units * @{small_ms} / 1000.0 / @{load})
end
give.close
Process.wait(child)
report(units, busy, culprit)
