# The pumps of a waterworks: when each one is to run, by the level of its basin, and what it was told.
require "json"

SLOT = @{slot}
SLOTS = (2 << 20) / SLOT

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Orders
  attr_reader :spent

  def initialize(path)
    flags = File::WRONLY
    flags |= File::SYNC if "@{sync}" == "yes"
    @file = File.open(path, flags)
    @gathered = Queue.new
    @spent = 0.0
  end

  def @{fn}(pump, text)
    start = now
    record = text.ljust(SLOT)[0, SLOT]
    if @{gather} == 1
      @gathered << record
    else
      @file.pwrite(record, pump % SLOTS * SLOT)
    end
    @spent += now - start
  end

  def ahead
    at = 0
    loop do
      sleep 2.5
      all = +""
      all << @gathered.pop until @gathered.empty?
      at = (at + @file.pwrite(all, at)) % (1 << 20) unless all.empty?
    end
  end
end

# Tries when to switch a pump on and off, so that the basin is neither empty nor spilt.
def plan(level, demand)
  best = nil
  (0...demand.size).step(12) do |on|
    water = level
    off = demand.each_with_index.sum do |need, hour|
      water += (hour - on) % demand.size < demand.size / 2 ? 1.0 : 0.0
      water -= need
      (water - 10).abs
    end
    best = [off, on] if best.nil? || off < best[0]
  end
  best
end

orders = Orders.new("@{work}/@{volume}/@{register}")
Thread.new { orders.ahead } if @{gather} == 1
# How many orders there were when we were last stopped.
before = File.binread("@{work}/@{volume}/@{register}")
warn "#{(0...before.size).step(SLOT).count { |at| before.getbyte(at) != 0 }} of #{SLOTS} in use"
chance = Random.new(@{meters})
units, busy, began, switched = 0, 0.0, now, 0
while now - began < @{seconds}
  start = now
  @{meters}.times do |i|
    pump = units * @{meters} + i
    demand = Array.new(@{history}) { chance.rand }
    off, on = plan(8 + pump % 5, demand)
    switched += on
    orders.@{fn}(pump * 37, "pump #{pump % 300} on at #{on}, off by #{off.round(2)}\n")
  end
  units += 1
  took = now - start
  busy += took
  sleep([1 / @{per_s} - took, 0].max)
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: orders.spent, switched: switched))
