require "json"

# The trace of a batch; TRACE_TO names its file.
class Trace
  def initialize(path)
    @out = File.open(path, "a")
    @out.sync = true
  end

  def @{fn}(batch, number)
    i = 0
    while i < @{traced}
      @out.write("#{number}/#{i} #{batch[i]}\n")
      i += 1
    end
  end
end

def @{fn2}(batch)
  batch.each_slice(16).sum { |records| records.first.getbyte(7) }
end

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

trace = Trace.new(ENV.fetch("TRACE_TO", File::NULL))
batch = Array.new(@{items}) { |i| "record=#{i % 100} ".ljust(@{width}, "abcdefgh ") }
rate = @{load} * 550_000 / @{items}
units, busy, culprit, sum, began = 0, 0.0, 0.0, 0, now
while now - began < @{seconds}
  start = now
  sum += @{fn2}(batch)
  before = now
  trace.@{fn}(batch, units)
  culprit += now - before
  units += 1
  busy += now - start
  rest = began + units / rate - now
  sleep(rest) if rest.positive?
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: culprit))
