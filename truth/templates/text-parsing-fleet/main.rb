# Bills the kilometres on toll roads: positions of lorries, which come through a pipe.
require "json"
require "time"

Position = Struct.new(:vehicle, :lat, :lon)

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Positions
  def initialize(way)
    @way = way
  end

  def of(lines)
    @way == "fields" ? @{fn}(lines) : by_place(lines)
  end

  def @{fn}(lines)
    lines.map do |line|
      time, *words = line.split(" ")
      fields = words.to_h { |word| word.split("=", 2) }
      fields["at"] = Time.iso8601(time)
      fields.each do |name, value|
        next unless value.is_a?(String)
        fields[name] = value.to_i if value.match?(/\A\d+\z/)
        fields[name] = value.to_f if value.match?(/\A\d+\.\d+\z/)
      end
      Position.new(fields["vehicle"], fields["lat"], fields["lon"])
    end
  end

  # Number and place are in the same columns of each line.
  def by_place(lines)
    lines.map { |line| Position.new(line[33, 4].to_i, line[42, 8].to_f, line[55, 9].to_f) }
  end
end

class Tolls
  def initialize
    @roads = Array.new(@{fences}) { |i| [48 + i % 7 / 7.0, 11 + i % 11 / 11.0, 0.11 + i % 5 / 50.0] }
    @last = {}
    @owed = Hash.new(0.0)
  end

  def drive(position)
    before = @last[position.vehicle]
    @last[position.vehicle] = position
    return unless before
    way = Math.hypot(position.lat - before.lat, position.lon - before.lon) * 111.2
    @roads.each do |lat, lon, price|
      far = (position.lat - lat).abs + (position.lon - lon).abs
      @owed[position.vehicle] += way * price if far < 0.05
    end
  end
end

positions, tolls = Positions.new("@{way}"), Tolls.new
units, busy, culprit, rest = 0, 0.0, 0.0, +""
began = clock
File.open("@{work}/@{feed}", "rb") do |feed|
  while clock - began < @{seconds}
    rest << feed.readpartial(65_536)
    start = clock
    lines = rest.slice!(0..(rest.rindex("\n") || -1)).split("\n")
    parsing = clock
    found = positions.of(lines)
    culprit += clock - parsing
    found.each { |position| tolls.drive(position) }
    units += found.size
    busy += clock - start
  end
rescue EOFError
  nil
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: culprit))
