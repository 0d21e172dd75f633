# Turns a crystal by steps, counts at each, and looks where the reflex is.
require "json"
require "socket"

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

class Motors
  attr_reader :waited

  def initialize(path)
    @line = UNIXSocket.new(path)
    @waited = 0.0
  end

  def @{fn}
    return @line.gets if "@{way}" == "wait"
    answer = +""
    until answer.end_with?("\n")
      part = @line.read_nonblock(256, exception: false)
      raise "the motors are gone" if part.nil?
      part == :wait_readable ? sleep(@{period} / 1000.0) : answer << part
    end
    answer
  end

  def ask(command)
    start = now
    @line.write(command, "\n")
    answer = @{fn}
    @waited += now - start
    answer.split.last.to_f
  end
end

# The middle of the peak that lies best below the counts.
def fit(angle, counts)
  shape = (-6..6).map { |k| counts * Math.exp(-k * k / 18.0) }
  (0...@{points} * 3 / 2).map { |i| angle + (i - @{points} * 3 / 4) / 1e3 }.min_by do |middle|
    shape.each_with_index.sum { |expected, k| (expected - counts * Math.exp(-(k - 6 + (middle - angle) * 40)**2 / 18.0))**2 }
  end
end

lamp = 0
Thread.new { loop { sleep(@{beat} / 1000.0); lamp ^= 1 } } if @{lamp} == 1
motors = Motors.new("@{work}/@{sock}")
units, busy, sum = 0, 0.0, 0.0
began = now
while now - began < @{seconds}
  start = now
  at = motors.ask(format("MOVE theta %.3f", units * 0.05 % 90))
  sum += fit(at, motors.ask("COUNT 0"))
  units += 1
  busy += now - start
  rest = began + units / @{rate}.0 - now
  sleep(rest) if rest > 0
end
puts sum, lamp
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: motors.waited))
