# Finds out whether a backend has a connection left.
require "json"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

$spent = 0.0

def @{fn}
  if "@{counted}" == "summary"
    return File.read("/proc/net/sockstat")[/^TCP: inuse (\d+)/, 1].to_i
  end
  asked = now
  wanted = format(":%04X", @{port})
  count = 0
  File.foreach("/proc/net/tcp") do |line|
    fields = line.split
    count += 1 if fields[3] == "01" && fields[1].end_with?(wanted)
  end
  $spent += now - asked
  count
end

def @{fn2}(count)
  sum = count
  (@{extra} * 300).times { |i| sum = (sum * 31 + i) % 65_521 }
  sum
end

units = 0
busy = 0.0
began = now
while now - began < @{seconds}
  start = now
  @{fn2}(@{fn})
  units += 1
  busy += now - start
  rest = began + units / @{rate}.to_f - now
  sleep(rest) if rest > 0
end
File.write("@{report}", JSON.dump(units: units, seconds: busy, culprit: $spent))
