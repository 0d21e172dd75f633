# Auditions: for each bar of a piece, which grains of an instrument fit together.
require "json"
require "zlib"

GRAIN = 4096
REGION = @{region_kb} * 1024
BLOCK = 256 * 1024

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Library
  attr_reader :fetched, :size

  def initialize(path)
    @file = File.open(path, "rb")
    @size = @file.size
    @fetched = 0.0
  end

  def @{fn}(at, length)
    start = now
    text = @file.pread(length, at)
    @fetched += now - start
    text
  end
end

# How loud a grain is, and how rough.
def character(grain)
  samples = grain.unpack("s<*")
  loud = rough = 0
  (0...samples.size).step([16 / @{voices}, 1].max) do |i|
    loud += samples[i].abs
    rough += (samples[i] - samples[i - 1]).abs
  end
  [loud, rough, Zlib.crc32(grain)]
end

def bar(library, number, chance)
  first = number * 7 % (library.size / REGION) * REGION
  places = Array.new(@{grains}) { chance.rand(REGION / GRAIN) * GRAIN }
  case "@{mode}"
  when "grains"
    places.map { |place| character(library.@{fn}(first + place, GRAIN)) }
  when "instrument"
    all = library.@{fn}(first, REGION)
    places.map { |place| character(all.byteslice(place, GRAIN)) }
  else
    (0...4).flat_map do |track|
      text = library.@{fn}((library.size / 4 * track + number * BLOCK) & ~4095, BLOCK)
      (0...BLOCK).step(GRAIN * 4).map { |place| character(text.byteslice(place, GRAIN)) }
    end
  end
end

library = Library.new("@{work}/@{volume}/@{library}")
chance = Random.new(@{grains})
units, busy, began = 0, 0.0, now
best = nil
while now - began < @{seconds}
  start = now
  best = [best, bar(library, units, chance).max].compact.max
  units += 1
  took = now - start
  busy += took
  sleep([1 / @{per_s} - took, 0].max)
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: library.fetched, best: best))
