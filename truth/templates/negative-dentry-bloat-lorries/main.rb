# Parcels of a lorry are put on lanes; the staff leaves notes about those to be held.
require "json"

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

Parcel = Struct.new(:depot, :lane, :grams)

class Sorter
  attr_reader :spent

  def initialize(folder)
    @folder, @lanes, @known, @spent = folder, Hash.new(0), {}, 0.0
    @scan = (Time.now.to_f * 1e6).to_i
  end

  def @{fn}(name)
    File.exist?("#{@folder}/#{name}.note")
  end

  def held?(parcel)
    if "@{named}" == "scan"
      @{fn}("#{parcel.depot}-#{@scan += 1}")
    else
      @known.fetch(parcel.lane) { |lane| @known[lane] = @{fn}("lane-#{lane}") }
    end
  end

  def sort(parcels)
    start = clock
    free = parcels.reject { |parcel| held?(parcel) }
    @spent += clock - start
    free.each { |parcel| @lanes[parcel.lane] += parcel.grams }
  end
end

def unload(lorry)
  state = lorry * 7919 + 17
  Array.new(@{parcels}) do
    state = state * 48_271 % 2_147_483_647
    Parcel.new(state % 90, state % 41, state % 30_000)
  end
end

sorter = Sorter.new("@{work}/@{notes}")
@{crawl}.times { |i| sorter.@{fn}("late-#{i}") }
units, busy, began = 0, 0.0, clock
due = began
while clock - began < @{seconds}
  start = clock
  sorter.sort(unload(units))
  busy += clock - start
  units += 1
  due = [due + 1.0 / @{rate}, clock].max
  sleep([due - clock, 0].max)
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: sorter.spent))
