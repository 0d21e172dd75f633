# Draws sundials: the lines of the hours, as the almanac has the sun, and the tool's path along them.
require "json"
require "socket"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Almanac
  attr_reader :opening

  def initialize
    @opening = 0.0
    @asked = 0
  end

  def @{fn}
    start = now
    @socket&.close
    @socket = TCPSocket.new("127.0.0.1", @{port})
    @socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    salt = @socket.gets.split.last
    @socket.write("LOGIN @{user} #{salt.reverse}\n")
    raise "not let in" unless @socket.gets == "OK\n"
    @asked = 0
    @opening += now - start
  end

  def sun(day, hour, latitude)
    @{fn} if @socket.nil? || @asked >= @{keep}
    @asked += 1
    @socket.write("SUN #{day} #{hour} #{latitude}\n")
    @socket.gets.split.map(&:to_f)
  end
end

# The tool's steps from the foot of the dial along a line, bent as the stone is.
def path(angle, length)
  x = y = 0.0
  Array.new(@{engrave} * 8) do |step|
    x += Math.cos(angle) * length / 100 + Math.sin(step * 0.1) * 0.001
    y += Math.sin(angle) * length / 100
    format("G1 X%.3f Y%.3f", x, y)
  end
end

almanac = Almanac.new
units, busy, steps, began = 0, 0.0, 0, now
while now - began < @{seconds}
  start = now
  latitude = 30 + units * 37 % 300 / 10.0
  dial = (0...@{lines}).flat_map do |line|
    height, shadow = almanac.sun(units % 365, 8 + line * 8.0 / @{lines}, latitude)
    height.positive? ? path(shadow, 1 / Math.tan(height + 0.1)) : []
  end
  steps += dial.join("\n").size
  units += 1
  took = now - start
  busy += took
  sleep([1 / @{per_s} - took, 0].max)
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: almanac.opening, steps: steps))
