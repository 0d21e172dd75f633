# Weighs the lorries of a quarry, axle by axle.
require "io/wait"
require "json"
require "socket"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Scale
  Gone = Class.new(StandardError)
  attr_reader :waited

  def initialize(port)
    @line = TCPSocket.new("127.0.0.1", port)
    @line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    @waited = 0.0
  end

  def weigh(axle)
    @line.write("S #{axle}\r\n")
    answer = @{fn}
    raise Gone, answer unless answer.start_with?("S S ")
    answer[4..].to_i
  end

  private

  # What the scale says, to the end of the line.
  def @{fn}
    text = +""
    until text.end_with?("\n")
      piece = @line.read_nonblock(64, exception: false)
      raise Gone, "closed" if piece.nil?
      if piece == :wait_readable
        start = now
        "@{wait}" == "look" ? sleep(@{pause} / 1000.0) : @line.wait_readable(5)
        @waited += now - start
      else
        text << piece
      end
    end
    text
  end
end

class Bridge
  GOODS = [1190, 1450, 870, 2210].freeze
  attr_reader :scale, :units, :busy, :tons

  def initialize(port)
    @scale = Scale.new(port)
    @units = @tons = @cents = 0
    @busy = 0.0
  end

  def run(begun)
    while now - begun < @{seconds}
      start = now
      lorry(@units)
      @units += 1
      @busy += now - start
      sleep [begun + @units / @{rate} - now, 0].max
    end
  end

  private

  def lorry(number)
    load = (0...@{axles}).sum { |axle| @scale.weigh(number * 5 + axle) } - 9800
    @cents += (0...@{tariffs}).map { |zone| load * GOODS[(number + zone) % 4] / 100_000 - zone * 3 }.max
    @tons += load / 1000
  end
end

bridges = Array.new(@{bridges}) { Bridge.new(@{scales}) }
shown = 0
Thread.new do
  loop do
    sleep @{board} / 1000.0
    shown = bridges.sum(&:tons)
  end
end
begun = now
bridges.map { |bridge| Thread.new { bridge.run(begun) } }.each(&:join)
File.write("@{report}", JSON.generate(units: bridges.sum(&:units), seconds: bridges.sum(&:busy), culprit: bridges.sum { |bridge| bridge.scale.waited }))
