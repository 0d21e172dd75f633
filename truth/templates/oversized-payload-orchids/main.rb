# The climate server of the orchid house. "bench N": the state of a bench. "season N": all of its readings.
require "socket"

ROW = 32
HOURS = @{hours}

class Bench
  attr_reader :number, :readings

  def initialize(number, readings)
    @number, @readings = number, readings
  end

  # How dry the air is for the plants: the mean over the newest readings, in kilopascal.
  def deficit(count)
    rows = (0...count).map { |i| @readings.byteslice(i * ROW, ROW).split(";").map(&:to_f) }
    rows.sum { |_, warm, damp| 0.6108 * Math.exp(17.27 * warm / (warm + 237.3)) * (1 - damp / 100) } / count
  end

  def @{fn}(scope)
    scope == "season" ? @readings : @readings.byteslice(0, HOURS * ROW)
  end
end

def load_benches
  year = (0...2000).map do |hour|
    format("%05d;%5.2f;%5.1f", hour, 19 + 4 * Math.sin(hour / 3.8), 70 + 9 * Math.cos(hour / 5.0)).ljust(ROW - 1) + "\n"
  end.join
  all = (year * ((@{megabytes} * 1e6).to_i / year.bytesize + 1)).freeze
  (0...@{benches}).map { |n| Bench.new(n, all.byteslice(n % 50 * ROW, all.bytesize)) }
end

BENCHES = load_benches

def serve(client)
  client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  while (line = client.gets)
    verb, number = line.split
    bench = BENCHES[number.to_i % BENCHES.size]
    rows = bench.@{fn}(verb == "season" ? "season" : "@{scope}")
    client.write(format("OK %d %.3f\n", rows.bytesize, bench.deficit(6)), rows)
  end
rescue SystemCallError
  nil
ensure
  client.close
end

door = TCPServer.new("127.0.0.1", @{port})
loop { Thread.new(door.accept) { |client| serve(client) } }
