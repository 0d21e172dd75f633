# Merges the addresses of several mailing lists, each of them once.
require "json"
require "set"

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

def @{fn}(lists)
  if "@{index}" == "map"
    seen = Set.new
    lists.each { |list| seen.merge(list) }
    return seen.to_a
  end
  merged = []
  lists.each do |list|
    list.each { |address| merged << address unless merged.include?(address) }
  end
  merged
end

random = Random.new(11)
pool = Array.new(@{span}) { |i| "customer-#{i}-#{random.rand(1_000_000)}@example.org" }
units, busy, culprit = 0, 0.0, 0.0
began = now
while now - began < @{seconds}
  start = now
  lists = Array.new(3) { pool.sample(@{span} / 2, random: random) }
  asked = now
  merged = @{fn}(lists)
  culprit += now - asked
  merged.size.to_s
  units += 1
  busy += now - start
  wait_until(began + units.to_f / @{rate})
end
report(units, busy, culprit)
