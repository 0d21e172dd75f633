# Takes orders of knitting patterns: finds the newest revision of a design's chart, and counts its stitches for the price.
require "json"
require "zlib"

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

class Shelf
  EVERY = @{every}
  attr_reader :looking

  def initialize(folder)
    @folder = folder
    @orders = 0
    @looking = 0.0
  end

  def newest(design)
    if @names.nil? || EVERY.positive? && (@orders % EVERY).zero?
      start = now
      @{fn}
      @looking += now - start
    end
    @orders += 1
    File.join(@folder, @names.select { |name| name.start_with?(design) }.max)
  end

  private

  def @{fn}
    @names = Dir.children(@folder)
  end
end

Bill = Struct.new(:chart, :stitches, :mark)

def price(path)
  text = File.binread(path)
  Bill.new(path, text.split.sum(&:size), Zlib.crc32(text))
end

charts = Shelf.new("@{work}/@{charts}")
bills = {}
units = 0
busy = 0.0
began = now
while now - began < @{seconds}
  start = now
  design = format("d%04d-", units * 37 % @{designs})
  bills[design] = price(charts.newest(design))
  units += 1
  busy += now - start
  rest = began + units / @{rate}.0 - now
  sleep(rest) if rest.positive?
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: charts.looking))
