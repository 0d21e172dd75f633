# The star catalogue of an observatory, for its telescopes: GET /stars/N says where a star is.
require 'json'
require 'socket'

RECORD = 64
PIECE = @{piece}

class Catalogue
  def initialize(path)
    @file = File.open(path, 'rb')
    @count = @file.size / RECORD
    @held = @{held} == 1 ? @file.read : nil
  end

  # The stars of the programme are all over the sky.
  def name_of(number) = format('HX%09d', number * 104_729 % @count * 3 + 3)

  def find(name) = @held ? halve(name) : @{fn}(name)

  # They are in the order of their names.
  def halve(name)
    at = (0...@count).bsearch { |i| @held.byteslice(i * RECORD, 11) >= name }
    at && @held.byteslice(at * RECORD, RECORD)
  end

  def @{fn}(name)
    offset = 0
    loop do
      piece = @file.pread(PIECE, offset)
      at = piece.index(name)
      return piece.byteslice(at, RECORD) if at

      offset += piece.bytesize
    end
  rescue EOFError
    nil
  end
end

def answer(star)
  return "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n" unless star

  name, right, declination, magnitude, parallax, kind = star.split
  body = JSON.generate(name: name, ra: right.to_f, dec: declination.to_f, mag: magnitude.to_f, plx: parallax.to_f, class: kind)
  "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}"
end

catalogue = Catalogue.new('@{work}/@{folder}/@{catalogue}')
door = TCPServer.new('127.0.0.1', @{port})
loop do
  Thread.new(door.accept) do |telescope|
    telescope.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (line = telescope.gets)
      number = line[%r{/stars/(\d+)}, 1].to_i
      nil until telescope.gets.to_s.strip.empty?
      telescope.write(answer(catalogue.find(catalogue.name_of(number))))
    end
  rescue SystemCallError
    nil
  ensure
    telescope.close
  end
end
