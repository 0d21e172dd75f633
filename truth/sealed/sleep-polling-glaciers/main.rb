# Dates the slices of an ice core: the scanner's line gives the layers, a helper counts the years, and the log is written in their order.
require 'json'

NAP = @{nap_ms} / 1000.0
SHOW = @{show_ms} / 1000.0

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

Slice = Struct.new(:number, :grey)

# Where slices are dated.
class Lab
  attr_reader :done

  def initialize
    @waiting = Queue.new
    @door = Mutex.new
    @dated = ConditionVariable.new
    @dates = {}
    @done = 0
    @helper = Thread.new { work }
    @helper.name = 'dating'
  end

  def hand_in(slice)
    @waiting << slice
  end

  def @{fn}(number)
    unless NAP > 0
      return @door.synchronize do
        @dated.wait(@door) until @dates.key?(number)
        @dates.delete(number)
      end
    end
    loop do
      years = @door.synchronize { @dates.delete(number) }
      return years if years

      sleep(NAP)
    end
  end

  private

  def work
    while (slice = @waiting.pop)
      years = count_years(slice)
      @door.synchronize do
        @dates[slice.number] = years
        @done += 1
        @dated.broadcast
      end
    end
  end

  # Counts the summers: the smoothing that gives the steadiest count is looked for as long as a slice may take.
  def count_years(slice)
    till = now + @{dating} / 1000.0
    width = 1
    years = nil
    while now < till
      smooth = slice.grey.each_cons(width).map { |part| part.sum / width }
      tops = smooth.each_cons(3).count { |a, b, c| b > a && b >= c }
      years = years ? (years * 3 + tops) / 4 : tops
      width = width % 9 + 1
    end
    years || 0
  end
end

def scan(number)
  Slice.new(number, Array.new(@{layers}) { |i| Math.sin(i * 0.7 + number) * 40 + (i * 31 + number * 17) % 23 + 100 })
end

lab = Lab.new
if SHOW > 0
  Thread.new do
    loop do
      $stderr.print "\r#{lab.done} slices "
      sleep SHOW
    end
  end
end
log = []
units = 0
depth = busy = culprit = 0.0
began = now
while now - began < @{seconds}
  start = now
  slice = scan(units)
  depth += 0.55 + slice.grey.sum / slice.grey.size / 1000
  lab.hand_in(slice)
  asked = now
  years = lab.@{fn}(units)
  culprit += now - asked
  log << [depth, years + (log.empty? ? 0 : log.last[1])]
  units += 1
  busy += now - start
  rest = began + units / @{rate}.to_f - now
  sleep(rest) if rest > 0
end
warn format('%.1f m are %d years', *log.last)
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: culprit))
