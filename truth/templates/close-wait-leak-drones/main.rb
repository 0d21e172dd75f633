# A ground station: takes positions, keeps drones apart, and writes a line for each flight.
require "socket"

Point = Struct.new(:lat, :lon, :height)
Flight = Struct.new(:line, :drone, :points, :ended)

class Station
  def initialize
    @flights, @lock = {}, Mutex.new
    @landed = []
    Thread.new { summaries }
  end

  def near?(one, other)
    (one.lat - other.lat).abs + (one.lon - other.lon).abs < 0.002 && (one.height - other.height).abs < 15
  end

  def advice(flight)
    me = flight.points.last
    others = @lock.synchronize { @flights.values }.last(50)
    close = others.reject { |one| one.equal?(flight) || one.points.empty? }.count { |one| near?(me, one.points.last) }
    close.zero? ? "go" : "climb #{close * 10}"
  end

  def length(points)
    points.each_cons(2).sum { |a, b| Math.hypot(a.lat - b.lat, (a.lon - b.lon) * 0.69) * 111_300 }.round
  end

  def @{fn}(flight)
    flight.ended = Time.now
    case "@{hangup}"
    when "close"
      @lock.synchronize { @flights.delete(flight.line) }
      flight.line.close
    when "drain"
      @lock.synchronize { @landed << flight }
    end
  end

  def summaries
    loop do
      sleep @{linger}
      some = @lock.synchronize { done, @landed = @landed, []; done.each { |one| @flights.delete(one.line) } }
      some.each do |flight|
        puts "#{flight.drone}: #{flight.points.size} points, #{length(flight.points)} m"
        flight.line.close
      end
    end
  end

  def follow(line)
    line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    flight = Flight.new(line, nil, [], nil)
    @lock.synchronize { @flights[line] = flight }
    while (text = line.gets)
      flight.drone, _, lat, lon, height = text.split
      flight.points << Point.new(lat.to_f, lon.to_f, height.to_i)
      line.write("#{advice(flight)}\n")
    end
    @{fn}(flight)
  end
end

station = Station.new
door = TCPServer.new("127.0.0.1", @{port})
loop { Thread.new(door.accept) { |line| station.follow(line) } }
