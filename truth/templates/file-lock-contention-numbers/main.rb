# Writes invoices: each gets the next number, which several programs draw from one file.
require 'json'

$drawing = 0.0

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

def @{fn}
  start = now
  File.open('@{work}/@{lock}', File::RDWR | File::CREAT) do |file|
    file.flock(File::LOCK_EX)
    number = file.read.to_i + 1
    file.rewind
    file.write(format("%012d\n", number))
    number
  end
ensure
  $drawing += now - start
end

def invoice(number)
  cents = Array.new(@{lines}) { |line| number * (line + 1) * 7919 % 10_000 }
  rows = cents.each_with_index.map { |price, line| "#{number};#{line + 1};article #{price % 97};#{price}" }
  [*rows, "#{number};total;#{cents.sum}", ''].join("\n")
end

begun = now
units = 0
busy = 0.0
File.open('@{work}/invoices.csv', 'w') do |out|
  while now - begun < @{seconds}
    start = now
    out.write(invoice(@{fn}))
    units += 1
    busy += now - start
    sleep 1.0 / @{rate}
  end
end
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: $drawing))
