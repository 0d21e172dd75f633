# A race office: notes who crosses a mark, and keeps the standby machine's copy of the race.
require "json"
require "socket"
require "yaml"

Boat = Struct.new(:number, :sail, :club, :laps, :mark, :last, :times) do
  def cross(mark, at)
    self.mark = mark
    self.last = at
    return unless mark.zero?

    times[laps % times.size] = at
    self.laps += 1
  end
end

class Race
  attr_reader :boats

  def initialize(size)
    @boats = Array.new(size) { |i| Boat.new(i, "NED #{400 + i}", "Club #{i % 11}", 0, 0, 0, Array.new(@{laps}, 0)) }
  end

  def @{fn}
    return Marshal.dump(@boats.map(&:to_a)) if "@{format}" == "packed"

    YAML.dump(@boats.map { |boat| boat.to_h.transform_keys(&:to_s) })
  end
end

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

marks = TCPSocket.new("127.0.0.1", @{marks})
marks.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
standby = UNIXSocket.new("@{work}/@{standby}")
crossings = SizedQueue.new(16)
Thread.new do
  while (line = marks.gets)
    crossings << line.split.map(&:to_i)
  end
  crossings.close
end

race = Race.new(@{boats})
units = 0
busy = encoding = 0.0
began = clock
while clock - began < @{seconds} && (crossing = crossings.pop)
  start = clock
  number, mark, at = crossing
  race.boats[number].cross(mark, at)
  before = clock
  state = race.@{fn}
  encoding += clock - before
  standby.write([units, state.bytesize].pack("NN") + state.b)
  standby.read(4)
  units += 1
  busy += clock - start
  marks.write("noted\n")
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: encoding))
exit!(0)
