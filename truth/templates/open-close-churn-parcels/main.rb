# Follows the parcels of a sorting centre: what the gates see goes to the trace, from which the hotline answers.
PATH_OF_TRACE = '@{work}/@{folder}/@{trace}'
HOLD = '@{hold}'

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Trace
  attr_reader :spent

  def initialize
    @spent = 0.0
    @file = File.open(PATH_OF_TRACE, 'a') if HOLD == 'always'
  end

  def of_lorry
    @file = File.open(PATH_OF_TRACE, 'a') if HOLD == 'lorry'
    yield
    @file&.flush
    @file.close if HOLD == 'lorry'
  end

  def @{fn}(line)
    start = now
    if HOLD == 'scan'
      File.open(PATH_OF_TRACE, 'a') { |file| file.puts(line) }
    else
      @file.puts(line)
    end
    @spent += now - start
  end
end

class Gate
  attr_reader :weights

  def initialize(trace)
    @trace = trace
    @weights = Hash.new(0)
  end

  def check_digit(code)
    sum = 0
    code[0, 9].each_byte.with_index { |digit, place| sum += (digit - 48) * (place.even? ? 3 : 1) }
    (10 - sum % 10) % 10
  end

  def pass(text)
    code, lane, grams = text.split(';')
    state = check_digit(code) == code[9].to_i ? 'ok' : 'check'
    @weights[lane] += grams.to_i
    @trace.@{fn}("#{code} lane=#{lane} weight=#{grams} #{state}")
  end
end

def lorry(number)
  Array.new(@{scans}) { |i| format('%010d;%d;%d', (number * 7919 + i * 104_729) % 9_999_999_967, i % @{lanes}, 200 + i * 37 % 29_000) }
end

trace = Trace.new
gate = Gate.new(trace)
units = 0
busy = 0.0
began = due = now
while now - began < @{seconds}
  scans = lorry(units)
  start = now
  trace.of_lorry { scans.each { |text| gate.pass(text) } }
  units += 1
  busy += now - start
  due = [due + 1.0 / @{rate}, now].max
  pause = due - now
  sleep(pause) if pause.positive?
end
File.write('@{report}', format('{"units": %d, "seconds": %f, "culprit": %f}', units, busy, trace.spent))
