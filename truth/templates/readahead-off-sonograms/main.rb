# Finds the calls of bats in the recordings of a night, and draws their sonograms.
require "json"

FRAME = @{frame}
Entry = Struct.new(:name, :start, :size)

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Archive
  attr_reader :entries, :reading

  def initialize(path)
    @heads = File.open(path, "rb")
    @heads.advise(:random)
    @body = @{shared} == 1 ? @heads : File.open(path, "rb")
    @reading = 0.0
    @entries = []
    while (entry = @heads.sysread(32)) && entry.getbyte(0) != 0
      name, start, size = entry.unpack("A16 Q< Q<")
      @entries << Entry.new(name, start, size)
    end
  end

  def head(entry)
    start = now
    text = @heads.pread(FRAME, entry.start)
    @reading += now - start
    text
  end

  def @{fn}(entry)
    @body.sysseek(entry.start)
    rest = entry.size
    while rest.positive?
      start = now
      frame = @body.sysread([FRAME, rest].min)
      @reading += now - start
      rest -= frame.bytesize
      yield frame
    end
  end
end

# The loudness of a frame in each band, coarse.
def bands(frame)
  samples = frame.unpack("s<*")
  (1..@{bands}).map do |band|
    sum = 0
    (band...samples.size).step(48) { |i| sum += (samples[i] - samples[i - band]).abs }
    sum
  end
end

archive = Archive.new("@{work}/@{volume}/@{archive}")
chance = Random.new(@{bands})
units, busy, calls, began = 0, 0.0, 0, now
while now - began < @{seconds}
  start = now
  if "@{mode}" == "heads"
    entries = Array.new(3) { archive.entries.sample(random: chance) }
    calls += entries.count { |entry| bands(archive.head(entry)).max > 100_000 }
  else
    sonogram = []
    archive.@{fn}(archive.entries[units % archive.entries.size]) { |frame| sonogram << bands(frame) }
    mean = sonogram.sum { |row| row[0] } / sonogram.size
    calls += sonogram.count { |row| row[0] > mean * 1.2 }
  end
  units += 1
  took = now - start
  busy += took
  sleep([1 / @{per_s} - took, 0].max)
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: archive.reading, calls: calls))
