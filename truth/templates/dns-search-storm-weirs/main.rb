# Regulates a river: works out from the levels how far each gate is to open, and tells the gate.
require "json"
require "socket"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

# The plant's own settings of the network, as in its container: unshare, and two mounts.
def enter
  syscall(272, 0x20000)
  syscall(165, "none", "/", "none", 0x44000, 0)
  syscall(165, "@{work}/resolv.conf", "/etc/resolv.conf", "none", 0x1000, 0)
end

Gate = Struct.new(:host, :level, :opening, :address, :asked)

class Regulator
  attr_reader :looking

  def initialize
    @gates = Array.new(@{river}) { |n| Gate.new(format("gate%02d.@{zone}@{root}", n + 1), 2.0, 0.0) }
    @line = UDPSocket.new
    @looking = 0.0
  end

  def @{fn}(gate)
    start = now
    gate.address = Addrinfo.getaddrinfo(gate.host, @{command}, nil, :DGRAM).first
    gate.asked = now
    @looking += gate.asked - start
  end

  def flow(minute)
    above = 3.2 + Math.sin(minute * 0.01)
    @gates.each_with_index do |gate, n|
      through = gate.opening * Math.sqrt(2 * 9.81 * [above, 0].max)
      gate.level += 0.1 * (above - gate.level) - 0.004 * through
      gate.opening = (gate.opening + 0.2 * (gate.level - 2.4 + 0.02 * n)).clamp(0, 1)
      above = gate.level
    end
  end

  def turn(number)
    flow(number)
    gate = @gates[number % @gates.size]
    @{fn}(gate) if gate.address.nil? || now - gate.asked >= @{keep}
    @line.send(format("open %s %.3f at %.2f", gate.host[0, 6], gate.opening, gate.level), 0, gate.address)
  end
end

$VERBOSE = nil
enter
regulator = Regulator.new
units = 0
busy = 0.0
began = now
while now - began < @{seconds}
  start = now
  regulator.turn(units)
  units += 1
  busy += now - start
  sleep [0, began + units / @{rate}.to_f - now].max
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: regulator.looking * @{wasted}))
