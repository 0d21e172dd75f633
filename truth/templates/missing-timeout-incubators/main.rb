# Watches the incubators of a ward: reads each bed in turn, smooths the values, and keeps the alarms.
require "json"
require "socket"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Terminal
  def initialize
    @socket = TCPSocket.new("127.0.0.1", @{port})
    @socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  end

  def @{fn}(bed)
    @socket.write("read #{bed}\n")
    if @{limit} > 0 && !@socket.wait_readable(@{limit} / 1000.0)
      @socket.close
      raise IOError, "bed #{bed}: no answer"
    end
    @socket.gets or raise EOFError
  end
end

class Bed
  attr_reader :alarms, :spread

  def initialize
    @history = []
    @alarms = 0
  end

  def take(text)
    temp, hum, oxygen = text.match(/temp ([\d.]+) hum ([\d.]+) spo2 (\d+)/).captures.map(&:to_f)
    @history.push(temp)
    @history.shift if @history.size > 60
    mean = @history.sum / @history.size
    @spread = Math.sqrt(@history.sum { |one| (one - mean)**2 } / @history.size)
    @alarms += 1 if temp > 37.4 || oxygen < 92 || hum < 40
  end
end

units = 0
busy = reading = 0.0
asked = nil

Thread.new do
  bell = TCPSocket.new("127.0.0.1", @{port})
  bell.puts "bell on"
  while (call = bell.gets)
    puts "nurse #{call}"
  end
end if @{bell} == 1

Thread.new do
  beds = Array.new(@{beds}) { Bed.new }
  terminal = Terminal.new
  (0..).each do |n|
    start = asked = now
    begin
      text = terminal.@{fn}(n % beds.size)
    rescue IOError, SystemCallError
      terminal = Terminal.new
      retry
    end
    reading += now - start
    asked = nil
    beds[n % beds.size].take(text)
    units += 1
    busy += now - start
    sleep 1.0 / @{rate}
  end
end

sleep @{seconds}
if asked
  units += 1
  busy += now - asked
  reading += now - asked
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: reading))
