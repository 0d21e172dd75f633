# Sends the newsletters of the evening; who is on the list of complaints gets none.
require "json"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Settings
  attr_reader :looked

  def initialize(path)
    @path = path
    @looked = 0.0
    @last = nil
    @stamp = nil
  end

  def fetch(key)
    time = now
    if @last.nil? || time - @last >= @{recheck}
      @last = time
      refresh
      @looked += now - time
    end
    @values[key]
  end

  private

  def refresh
    stamp = File.stat(@path).mtime
    return if stamp == @stamp
    @stamp = stamp
    @values = JSON.parse(File.read(@path))
  end
end

def @{fn}(settings, number)
  (1..@{lines}).sum { |line| (settings.fetch("base") * line + number) % 97 }
end

settings = Settings.new("@{work}/@{deep}/@{watched}")
units = 0
busy = 0.0
began = now
while now - began < @{seconds}
  start = now
  @{fn}(settings, units)
  units += 1
  busy += now - start
  rest = began + units / @{rate}.0 - now
  sleep(rest) if rest > 0
end
File.write("@{report}", JSON.dump(units: units, seconds: busy, culprit: settings.looked))
