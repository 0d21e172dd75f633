# The desk of an observatory: an astronomer asks for a plate by its number and is told where it points and how high that stands.
require 'socket'

Star = Struct.new(:x, :y, :magnitude)
Pointing = Struct.new(:ascension, :declination, :angle)

# One line to the plate solver.
class Solver
  def initialize(port)
    @port = port
  end

  def line
    @line ||= TCPSocket.new('127.0.0.1', @port).tap { |socket| socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1) }
  end

  def @{fn}(plate, brightest)
    places = brightest.map { |star| format('%.2f %.2f', star.x, star.y) }
    line.write("SOLVE #{plate} #{places.join(' ')}\n")
    word, _number, *values = (line.gets || '').split
    raise "solver: #{word}" unless word == 'OK'

    Pointing.new(*values.map(&:to_f))
  end
end

class Plate
  attr_reader :stars

  def initialize(number)
    @number = number
    chance = Random.new(number)
    @stars = Array.new(@{stars}) { Star.new(chance.rand * 4096, chance.rand * 4096, 4 + chance.rand * 5) }
    @stars.sort_by!(&:magnitude)
  end

  def card(at)
    latitude = @{latitude} * Math::PI / 180
    declination = at.declination * Math::PI / 180
    lines = ["plate #{@number}", format('%.5f %.5f, turned %.3f', at.ascension, at.declination, at.angle)]
    (-6..6).each do |hour|
      sine = Math.sin(latitude) * Math.sin(declination) + Math.cos(latitude) * Math.cos(declination) * Math.cos(hour * Math::PI / 12)
      lines << format('%+d h: %.2f, air mass %.3f', hour, Math.asin(sine) * 180 / Math::PI, sine > 0.1 ? 1 / sine : 0)
    end
    light = @stars.sum { |star| 10**(-0.4 * star.magnitude) }
    (lines << format('all stars: %.3f mag', -2.5 * Math.log10(light))).join("\n") + "\n"
  end
end

class Desk
  def initialize(door)
    @door = door
    @solver = Solver.new(@{solver})
  end

  def open
    loop do
      visitor = @door.accept
      begin
        serve(visitor)
      rescue SystemCallError, IOError, RuntimeError => e
        warn "visitor: #{e.message}"
      ensure
        visitor.close
      end
    end
  end

  private

  def serve(visitor)
    first = visitor.gets or return
    nil until (visitor.gets || '').strip.empty?
    number = first[%r{/plates/(\d+)}, 1].to_i
    plate = Plate.new(number)
    body = plate.card(@solver.@{fn}(number, plate.stars.first(8)))
    visitor.write("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}")
  end
end

door = TCPServer.new('127.0.0.1', @{port})
door.listen(128)
Array.new(@{hands}) { Thread.new { Desk.new(door).open } }.each(&:join)
