# Warns orchards of frost: a process of its own knows the stations, the front one talks to the growers.
require 'socket'

RECORD = 64
BASIN = 40

# The stations by the squares of the map: what the table has, in its order.
class Stations
  def initialize(path)
    @path = path
  end

  def @{fn}
    return @bytes if @bytes

    bytes = File.binread(@path)
    @bytes = bytes if @{holds} == 1
    bytes
  end

  # Of the stations of a basin, the one that is nearest.
  def nearest(x, y, basin)
    bytes = @{fn}
    count = bytes.bytesize / RECORD
    (0...BASIN).map do |i|
      at = (basin * BASIN + i) % count
      number, east, north, warmth = bytes.unpack('Vl<l<l<', offset: at * RECORD)
      [(east - x).abs + (north - y).abs, number, warmth]
    end.min
  end
end

def know(front)
  stations = Stations.new('@{work}/@{folder}/@{stations}')
  while (ask = front.gets)
    front.puts(stations.nearest(*ask.split.map(&:to_i)).join(' '))
  end
end

front, back = UNIXSocket.pair
knower = fork do
  front.close
  know(back)
end
back.close
lock = Mutex.new
at_exit { Process.kill('TERM', knower) }

Socket.tcp_server_loop('127.0.0.1', @{port}) do |grower, _|
  Thread.new do
    grower.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (line = grower.gets)
      orchard = line.split.last.to_i
      far, station, warmth = lock.synchronize do
        front.puts("#{orchard * 7919 % 360_000} #{orchard * 104_729 % 180_000} #{orchard % 251}")
        front.gets.split.map(&:to_i)
      end
      night = warmth - 40 - far / 9000
      grower.write("orchard #{orchard}: #{night.negative? ? 'frost' : 'mild'} by station #{station}, #{night / 10.0} degrees\n")
    end
  rescue SystemCallError => e
    warn e.message
  ensure
    grower.close
  end
end
