# Writes invoices: each gets the next number.
require 'json'

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

def @{fn2}(numbers)
  numbers.flock(File::LOCK_EX)
  number = numbers.pread(32, 0).to_i + 1
  numbers.pwrite(number.to_s, 0)
  numbers.flock(File::LOCK_UN)
  number
end

def invoice(number)
  Array.new(@{lines}) { |i| format('%d;%d;article %d;%d', number, i, number * 31 % 9973, number % 300) }.join("\n")
end

numbers = File.open('@{work}/@{numbers}', 'r+')
units = size = 0
busy = culprit = 0.0
began = now
while (start = now) - began < @{seconds}
  number = @{fn2}(numbers)
  culprit += now - start
  size += invoice(number).size
  units += 1
  busy += now - start
  rest = began + units / @{rate}.to_f - now
  sleep rest if rest.positive?
end
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: culprit))
