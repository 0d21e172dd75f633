# What the turbines of a wind park do, for its desks.
require "socket"

Turbine = Struct.new(:number, :state, :power, :curve) do
  def row(with_curve)
    [number, state, power, with_curve ? curve.bytesize / 2 : 0, 0].pack("vvVvv")
  end
end

class Park
  TABLE = 1

  def initialize(size, samples)
    noise = Random.new(5)
    @turbines = Array.new(size) { |i| Turbine.new(i + 1, 1, 19_000 + i * 7, noise.bytes(samples * 2)) }
  end

  def @{fn}(turbines, curves)
    parts = turbines.flat_map { |turbine| curves ? [turbine.row(true), turbine.curve] : [turbine.row(false)] }
    [[parts.sum(&:bytesize)].pack("V"), *parts]
  end

  def answer(what, which)
    return @{fn}(@turbines, @{curves} == 1) if what == TABLE

    @{fn}([@turbines[which % @turbines.size]], true)
  end
end

def serve(desk, park)
  while (asked = desk.read(4)) && asked.bytesize == 4
    desk.write(*park.answer(*asked.unpack("vv")))
  end
rescue SystemCallError
  nil
ensure
  desk.close
end

park = Park.new(@{turbines}, @{samples})
UNIXServer.open("@{work}/@{door}") do |door|
  loop { Thread.new(door.accept) { |desk| serve(desk, park) } }
end
