# Keeps the scores of a bowling alley: a thread for each lane shows its players what the pinsetters tell.
require "json"
require "io/wait"
require "socket"

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)
# The time of the processors that this has taken.
def used = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

class Bell
  attr_reader :mutex, :rings

  def initialize
    @mutex = Mutex.new
    @rings = ConditionVariable.new
  end
end

Throw = Struct.new(:pins, :came)

class Lane
  attr_reader :units, :late, :best

  def initialize(bell)
    @bell = bell
    @box = []
    @rolls = []
    @units = @best = @late = 0
    @closing = false
  end

  def @{fn}
    @bell.mutex.synchronize do
      @bell.rings.wait(@bell.mutex) while @box.empty? && !@closing
      @box.shift
    end
  end

  def @{ring}(pins, came)
    @bell.mutex.synchronize do
      @box << Throw.new(pins, came)
      @bell.rings.broadcast
    end
  end

  def close
    @bell.mutex.synchronize do
      @closing = true
      @bell.rings.broadcast
    end
  end

  def play
    while (roll = @{fn})
      @late += 1 if clock - roll.came > 0.5
      @rolls << roll.pins
      @best = [@best, score].max
      @rolls.clear if @rolls.size > 20
      @units += 1
    end
  end

  # The score of the rolls so far, with strikes and spares.
  def score
    at = sum = 0
    10.times do
      first, second, third = (0..2).map { |ahead| @rolls[at + ahead] || 0 }
      sum += first + second + (first + second >= 10 ? third : 0)
      at += first == 10 ? 1 : 2
    end
    sum
  end
end

hall = Bell.new
lanes = Array.new(@{lanes}) { Lane.new(@{shared} == 1 ? hall : Bell.new) }
threads = lanes.map { |lane| Thread.new { lane.play } }
pinsetters = UDPSocket.new
pinsetters.bind("127.0.0.1", @{port})
began = clock
before = used
while clock - began < @{seconds}
  next unless pinsetters.wait_readable(0.3)

  text, = pinsetters.recvfrom(64)
  lane, pins = text.split.map(&:to_i)
  came = clock
  (lane.negative? ? lanes : [lanes[lane]]).each { |one| one.@{ring}(pins, came) }
end
spent = used - before
lanes.each(&:close)
threads.each(&:join)
puts "best score: #{lanes.map(&:best).max}"
File.write("@{report}", JSON.generate(units: lanes.sum(&:units), seconds: spent))
