# Runs the rule of each tariff: a small script, the newest of any package wins.
require "json"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

places = (1..@{dirs}).map { |i| "@{work}/@{base}/p#{i}/@{sub}" }
places.unshift(places.pop) if "@{at}" == "first"
places.each { |place| $LOAD_PATH << place }
if "@{at}" == "first"
  $LOAD_PATH.unshift(places.first)
end

$culprit = 0.0
$loaded = {}

def @{fn}(number)
  return if $loaded[number]
  asked = now
  load "@{stem}_#{number}.rb"
  $culprit += now - asked
  $loaded[number] = true if @{keep} == 1
end

def @{fn2}(number)
  value = number
  @{extra}.times { value = (value * 31 + send("rule_of_#{number}")) % 65_521 }
  value
end

(1..@{names}).each { |number| @{fn}(number) } if @{keep} == 1
$culprit = 0.0
units = 0
busy = 0.0
began = now
while now - began < @{seconds}
  start = now
  number = 1 + units % @{names}
  @{fn}(number)
  @{fn2}(number)
  units += 1
  busy += now - start
  rest = began + units / @{rate}.0 - now
  sleep(rest) if rest > 0
end
File.write("@{report}", JSON.dump(units: units, seconds: busy, culprit: $culprit))
