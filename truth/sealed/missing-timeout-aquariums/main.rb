# Watches the tanks of a public aquarium: asks their probes, smooths what they say, and decides what is dosed.
require 'io/wait'
require 'json'
require 'socket'

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Probes
  LIMIT = @{limit_ms}.positive? ? @{limit_ms} / 1000.0 : nil

  def initialize(port)
    @port = port
    dial
  end

  def dial
    @line&.close
    @line = Socket.tcp('127.0.0.1', @port, connect_timeout: 2)
    @line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  end

  # What a probe says; nil if it says nothing.
  def @{fn}(tank)
    @line.write("READ #{tank}\n")
    return nil if LIMIT && !@line.wait_readable(LIMIT)

    answer = @line.gets or return nil
    words = answer.split
    { warm: words[3].to_f, salt: words[5].to_f, acid: words[7].to_f }
  end
end

class Tank
  attr_accessor :rest_until
  attr_reader :number, :buffer_ml

  def initialize(number)
    @number = number
    @history = []
    @buffer_ml = 0.0
    @rest_until = 0.0
  end

  def dose(values)
    @history << values
    @history.shift if @history.size > 240
    lack = 8.15 - median(:acid)
    thin = 34.5 - median(:salt)
    solved = 1 + 0.02 * (median(:warm) - 24)
    @buffer_ml += 12 * lack * solved * Math.exp(-thin * thin) if lack.positive?
  end

  private

  def median(name)
    sorted = @history.map { |values| values[name] }.sort
    sorted[sorted.size / 2]
  end
end

class Watch
  attr_reader :units, :busy, :waited, :since

  def initialize(tanks, began)
    @tanks = tanks
    @began = began
    @units = 0
    @busy = @waited = 0.0
    @probes = Probes.new(@{probes})
  end

  def run
    turns = 0
    @tanks.cycle do |tank|
      visit(tank)
      turns += 1
      rest = @began + turns / @{rate} - now
      sleep(rest) if rest.positive?
    end
  end

  private

  def visit(tank)
    start = now
    return if start < tank.rest_until

    @since = start
    values = @probes.@{fn}(tank.number)
    @since = nil
    @waited += now - start
    if values
      tank.dose(values)
    else
      warn "tank #{tank.number}: no answer"
      tank.rest_until = now + 30
      @probes.dial
    end
    @units += 1
    @busy += now - start
  end
end

tanks = Array.new(@{tanks}) { |number| Tank.new(number) }

# Keepers come here and ask what a tank got.
Thread.new do
  hall = TCPServer.new('127.0.0.1', @{door})
  loop do
    keeper = hall.accept
    tanks.each { |tank| keeper.puts format('%d: %.1f ml', tank.number, tank.buffer_ml) }
    keeper.close
  end
end

began = now
watches = tanks.group_by { |tank| tank.number % @{workers} }.values.map { |some| Watch.new(some, began) }
watches.each { |watch| Thread.new { watch.run } }
sleep(began + @{seconds} - now)
open_s = watches.map { |watch| (since = watch.since) ? now - since : 0.0 }
report = { units: watches.sum(&:units), seconds: watches.sum(&:busy) + open_s.sum, culprit: watches.sum(&:waited) + open_s.sum }
File.write('@{report}', JSON.generate(report))
exit!(0)
