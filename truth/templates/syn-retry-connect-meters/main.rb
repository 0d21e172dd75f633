# Asks the filling levels of oil tanks: a small computer at each tank is dialled, asked, and left.
require 'json'
require 'logger'
require 'socket'

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

# One round through a part of the tanks.
class Round
  attr_reader :units, :busy, :spent

  def initialize(first, log)
    @first = first
    @log = log
    @units = 0
    @busy = @spent = 0.0
    @levels = Hash.new { |levels, tank| levels[tank] = [] }
  end

  def address(tank) = "127.@{a}.@{b}.#{1 + tank % @{meters}}"

  def @{fn}(tank, port)
    asked = now
    line = Socket.tcp(address(tank), port, connect_timeout: 30)
    line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    [line, now - asked]
  end

  # The level is what most of the soundings are near to.
  def level(values)
    near = 1
    best = [values.first, 0]
    (1 + @{effort} / 40).times do |round|
      near = 5 + round * 3
      values.each do |value|
        count = values.count { |other| (other - value).abs < near }
        best = [value, count] if count > best.last
      end
      break if best.last > values.size * 3 / 4
    end
    best.first
  end

  def visit(tank)
    line, took = @{fn}(tank, @{door})
    @spent += took
    line.write("level #{tank}\n")
    word, *values = line.gets.split
    raise "tank #{tank}: #{word}" unless word == 'values'

    found = level(values.map(&:to_i))
    @levels[tank % @{meters}].push(found).shift([@levels[tank % @{meters}].size - 30, 0].max)
    @log.info("tank #{tank}: #{found}")
  ensure
    line&.close
  end

  def go(finish)
    tank = @first
    due = now
    while now < finish
      due = [due + 1.0 / @{rate}, now].max
      sleep([due - now, 0].max)
      start = now
      visit(tank)
      @busy += now - start
      @units += 1
      tank += @{workers}
    end
  end
end

log = Logger.new('@{work}/levels.log')
rounds = Array.new(@{workers}) { |first| Round.new(first, log) }
# The second lines are for winters; whether they are well is looked at all year.
Thread.new do
  (0..).each do |tank|
    line, took = rounds.first.@{fn}(tank, @{spare})
    line.close
    log.info("second line of #{tank}: #{(took * 1000).round} ms")
    sleep 0.4
  end
end
finish = now + @{seconds}
rounds.map { |round| Thread.new { round.go(finish) } }.each(&:join)
units = rounds.sum(&:units)
File.write('@{report}', JSON.generate(units: units, seconds: rounds.sum(&:busy), culprit: rounds.sum(&:spent)))
