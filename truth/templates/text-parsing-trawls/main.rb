# Where the fleet is and what it has caught, drawn anew with each transmission.
require "json"
require "socket"
require "time"

LINE = /^(\S+ \S+) \[(\S+)\] (\w+) ship=FV(\d+) lat=(-?[\d.]+) lon=(-?[\d.]+) speed=([\d.]+)kn catch=(\d+)kg gear=(\w+) status="(.*)"$/
Call = Struct.new(:at, :ship, :lat, :lon, :knots, :catch)

def @{fn}(text)
  text.each_line.filter_map do |line|
    found = LINE.match(line) or next
    day, clock = found[1].split(" ")
    at = Time.utc(*day.split("-").map(&:to_i), *clock.split(":").map(&:to_i)).to_i
    Call.new(at, found[4].to_i, found[5].to_f, found[6].to_f, found[7].to_f, found[8].to_i)
  end
end

def records(body)
  body.unpack("LSllSS" * (body.bytesize / 18)).each_slice(6).map do |at, ship, lat, lon, knots, catch|
    Call.new(at, ship, lat / 1e4, lon / 1e4, knots / 10.0, catch)
  end
end

class Chart
  def initialize
    @fleet = {}
    @caught = Hash.new(0)
  end

  def take(calls)
    calls.each do |call|
      @fleet[call.ship] = call
      @caught[call.ship] += call.catch
    end
  end

  def draw
    cells = Array.new(@{cells} * @{cells}, 0.0)
    @fleet.each_value do |call|
      cells.each_index do |i|
        lat, lon = 30 + i / @{cells} * 3, i % @{cells} * 4 - 30
        cells[i] += 1 / (1 + (call.lat - lat)**2 + (call.lon - lon)**2)
      end
    end
    cells.max
  end
end

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

radio = TCPSocket.new("127.0.0.1", @{radio})
chart = Chart.new
units, busy, culprit, fullest = 0, 0.0, 0.0, 0
began = now
while now - began < @{seconds}
  body = radio.read(radio.read(4).unpack1("V"))
  start = now
  calls = "@{form}" == "log" ? @{fn}(body) : records(body)
  culprit += now - start if "@{form}" == "log"
  chart.take(calls)
  fullest = chart.draw
  units += 1
  busy += now - start
end
puts fullest
File.write("@{report}", JSON.generate({ units: units, seconds: busy, culprit: culprit }))
