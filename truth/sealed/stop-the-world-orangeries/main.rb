# The register of an orangery: says beside which plant a new one would stand well.
require "socket"

KINDS = %w[citrus laurel myrtle oleander palm agave].freeze

class Plant
  attr_reader :number, :kind, :warmth, :light, :beside

  def initialize(number)
    @number = number
    @kind = KINDS[number % KINDS.size]
    @warmth = 5 + number * 7 % 25
    @light = 100 + number * 31 % 700
    @beside = []
  end

  def unlike(kind, warmth, light)
    (@warmth - warmth).abs * 40 + (@light - light).abs + (@kind == kind ? 0 : 150)
  end
end

class Register
  def initialize
    @plants = Array.new(@{plants}) { |number| Plant.new(number) }
    @plants.each_with_index do |plant, number|
      plant.beside.push(@plants[number - 1], @plants[number / 3], @plants[number / 5], @plants[number / 7])
    end
    @needed = 0
  end

  # How much of the memory is needed: the register takes no more plants when it is nearly full.
  def @{fn}
    GC.start if @{exact} == 1
    @needed = GC.stat(:heap_live_slots)
  end

  def neighbour(number, kind, warmth, light)
    return "full\n" if @needed > 200_000_000

    best = @plants[number % @plants.size]
    least = best.unlike(kind, warmth, light)
    @{looked}.times do |i|
      plant = @plants[(number * 7919 + i * 104_729) % @plants.size]
      unlike = plant.unlike(kind, warmth, light)
      best, least = plant, unlike if unlike < least
    end
    "beside #{best.number} #{best.kind}\n"
  end
end

register = Register.new
Thread.new do
  loop do
    sleep(@{period})
    register.@{fn}
  end
end

door = TCPServer.new("127.0.0.1", @{port})
loop do
  Thread.new(door.accept) do |client|
    client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (line = client.gets)
      _, number, kind, warmth, light = line.split
      client.write(register.neighbour(number.to_i, kind, warmth.to_i, light.to_i))
    end
    client.close
  end
end
