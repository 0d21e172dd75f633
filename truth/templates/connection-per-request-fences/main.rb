# The gateway of a fleet: takes the tracks of lorries, smooths them, and tells which zones they went through.
require 'logger'
require 'set'
require 'socket'

Point = Struct.new(:x, :y)

class Fences
  def initialize(port)
    @port = port
  end

  def zone(at)
    ask("ZONE #{at.x.round} #{at.y.round}")[/\AZONE (\d+)/, 1].to_i
  end

  def leave
    @line&.write("QUIT\n")
    @line&.close
    @line = nil
  end

  private

  def ask(text)
    login unless @line
    @line.write("#{text}\n")
    @line.gets or raise IOError, 'the fence service does not answer'
  end

  def login
    @line = TCPSocket.new('127.0.0.1', @port)
    @line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    @line.write("LOGIN fleet north-4711\n")
    raise IOError, 'not let in' unless @line.gets == "OK\n"
  end
end

class Gateway
  def initialize(log)
    @log = log
    @fences = Fences.new(@{fences})
    @asked = rand(50)
    @last = 0
  end

  def track(lorry)
    points = smoothed(lorry)
    zones = Array.new(@{points}) do |i|
      @asked += 1
      @last = @{fn}(points[i * points.size / @{points}]) if (@asked % @{known}).zero?
      @last
    end
    @log.info("track #{lorry}: #{zones.join(' ')}")
    zones.to_set.size
  end

  private

  def @{fn}(at)
    zone = @fences.zone(at)
    @fences.leave if '@{line}' == 'question'
    zone
  end

  # The fixes of the receiver jump about: a mean over the neighbours, time and again, until it is smooth.
  def smoothed(lorry)
    xs = Array.new(120) { |i| lorry * 37.0 + i * 60 + Math.sin(i * 12.9 + lorry) * 40 }
    ys = Array.new(120) { |i| lorry * 11.0 + i * 40 + Math.cos(i * 7.3) * 40 }
    20.times do
      xs = mean(xs)
      ys = mean(ys)
    end
    xs.zip(ys).map { |x, y| Point.new(x, y) }
  end

  def mean(values)
    last = values.size - 1
    Array.new(values.size) { |i| i.zero? || i == last ? values[i] : (values[i - 1] + values[i] + values[i + 1]) / 3 }
  end
end

log = Logger.new('@{work}/gateway.log')
door = TCPServer.new('127.0.0.1', @{port})
door.listen(64)
loop do
  lorry = door.accept
  lorry.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  Thread.new do
    gateway = Gateway.new(log)
    while (line = lorry.gets)
      number = line.split.last.to_i
      lorry.write("track #{number}: #{gateway.track(number)} zones\n")
    end
  rescue SystemCallError, IOError => e
    log.error(e.message)
  ensure
    lorry.close
  end
end
