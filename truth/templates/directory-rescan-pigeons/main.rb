# Clocks the birds of a race as they come home.
require "digest"
require "json"
require "set"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Races
  attr_reader :spent, :names

  def initialize(folder, pause)
    @folder, @pause = folder, pause
    @names = Set.new
    @looked = -1e9
    @spent = 0.0
  end

  # A race may be announced while another one is flown.
  def current
    @{fn}(@folder) if now - @looked >= @pause
    @names
  end

  def @{fn}(folder)
    start = now
    there = Dir.children(folder)
    @names = Set.new(there) if there.size != @names.size
    @looked = now
    @spent += @looked - start
  end
end

class Clock
  def initialize
    @seal = "start"
    @best = []
  end

  def home(number, races)
    ring = format("NL-%04d-%02d-%d", number % 9973, number % 97, number)
    hours = 1.5 + number % 311 / 100.0
    speed = (90_000 + number * 37 % 60_000) / hours / 60
    @{rounds}.times { @seal = Digest::SHA256.digest(@seal + ring) }
    @best << [speed, ring, races.size]
    @best = @best.sort.last(40) if @best.size > 60
  end
end

pause = @{pause}
races = Races.new("@{work}/@{lists}", pause)
seasons = pause < 0 ? Dir.glob("@{work}/@{old}/*") : []
clock = Clock.new
units, busy = 0, 0.0
began = now
while now - began < @{seconds}
  start = now
  if pause >= 0
    races.current
  elsif (season = seasons.pop)
    races.@{fn}(season)
  end
  clock.home(units, races.names)
  units += 1
  busy += now - start
  rest = began + units / @{rate}.0 - now
  sleep(rest) if rest > 0
end
File.write("@{report}", JSON.generate("units" => units, "seconds" => busy, "culprit" => races.spent))
