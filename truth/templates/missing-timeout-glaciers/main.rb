# Mass balance of a glacier: for each transect, what the stations say now, and how the ice would melt from that.
require 'json'
require 'socket'

STATIONS = { moraine: @{moraine}, mast: @{mast}, stakes: @{stakes} }.freeze
LIMIT = @{limit}

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

# The line of one surveyor to one station.
class Link
  attr_reader :since, :lost

  def initialize(port)
    @port = port
    @since = nil
    @lost = 0.0
  end

  def dial
    @socket = TCPSocket.new('127.0.0.1', @port)
    @socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  end

  def @{fn}(transect)
    2.times do
      dial unless @socket
      @since = clock
      @socket.write("SAMPLE #{transect}\n")
      if LIMIT.zero? || IO.select([@socket], nil, nil, LIMIT)
        line = @socket.gets
        @since = nil
        return line.split.map(&:to_f) if line
      end
      @lost += clock - @since if @since
      @since = nil
      @socket.close
      @socket = nil
    end
    nil
  end
end

def melt(temperature, height, steps)
  ice = height / 20.0
  steps.times do |hour|
    sun = Math.sin(hour * Math::PI / 12)
    ice -= 0.0004 * [temperature + 6 * sun, 0].max
    ice += 0.0002 if hour % 31 == 7
  end
  ice
end

class Surveyor
  attr_reader :units, :busy, :links, :start

  def initialize(plan, ledger)
    @links = STATIONS.values.map { |port| Link.new(port) }
    @units = 0
    @busy = 0.0
    @thread = Thread.new do
      loop do
        transect = plan.pop
        @start = clock
        ledger << survey(transect)
        ledger.shift if ledger.size > 400
        @busy += clock - @start
        @start = nil
        @units += 1
      end
    end
  end

  def survey(transect)
    samples = @links.map { |link| link.@{fn}(transect) }.compact
    balance = samples.map { |temperature, height, _| melt(temperature, height, @{steps}) }
    weak = samples.count { |sample| sample[2] < 65 }
    "#{transect} #{format('%.2f', balance.sum / [balance.size, 1].max)} #{weak}"
  end
end

def alarms(ledger)
  Thread.new do
    socket = TCPSocket.new('127.0.0.1', STATIONS[:stakes])
    socket.write("ALARMS\n")
    while (line = socket.gets)
      ledger << line
    end
  end
end

plan = Queue.new
ledger = []
alarms(ledger) if @{alarms} == 1
crew = Array.new(@{surveyors}) { Surveyor.new(plan, ledger) }
began = clock
transect = 0
while clock - began < @{seconds}
  plan << (transect += 1)
  sleep([0, began + transect / @{rate} - clock].max)
end
now = clock
busy = crew.sum { |one| one.busy + (one.start ? now - one.start : 0) }
lost = crew.flat_map(&:links).sum { |link| link.lost + (link.since ? now - link.since : 0) }
File.write('@{report}', JSON.generate(units: crew.sum(&:units), seconds: busy, culprit: lost))
exit!(0)
