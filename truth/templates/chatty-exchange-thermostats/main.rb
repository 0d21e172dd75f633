# Loads the heating programmes of a block of flats into its thermostats, flat by flat, by way of the gateway in the cellar.
require 'json'
require 'socket'
require 'zlib'

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

# The programme of a flat: for each quarter of an hour what the rooms shall have, in half degrees.
class Programme
  attr_reader :flat, :image

  def initialize(flat, bytes)
    @flat = flat
    @image = Array.new(bytes) { |i| warmth(i % 96, i / 96) }.pack('C*')
  end

  def warmth(quarter, room)
    base = quarter.between?(26, 88) ? 42 : 34
    base + (@flat * 7 + room * 3) % 5 - (room % 3 == 2 && quarter > 60 ? 1 : 0)
  end

  def crc
    Zlib.crc32(@image)
  end
end

class Gateway
  PIECE = @{piece}

  def initialize(port)
    @line = TCPSocket.new('127.0.0.1', port)
    @line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    @line.sync = true
  end

  def @{fn}(flat, image)
    offset = 0
    while offset < image.bytesize
      piece = image.byteslice(offset, PIECE)
      @line.write(['P', flat, offset, piece.bytesize].pack('anNn') + piece)
      offset = reply('A')
    end
  end

  def check(flat)
    @line.write(['C', flat, 0, 0].pack('anNn'))
    reply('C')
  end

  def close
    @line.close
  end

  private

  def reply(kind)
    got, value = @line.read(5).unpack('aN')
    raise "the gateway says #{got}" unless got == kind

    value
  end
end

gateway = Gateway.new(@{gateway})
units = 0
busy = culprit = 0.0
wrong = []
began = now
while now - began < @{seconds}
  start = now
  programme = Programme.new(units % 400 + 1, @{bytes})
  sent = now
  gateway.@{fn}(programme.flat, programme.image)
  culprit += now - sent
  wrong << programme.flat unless gateway.check(programme.flat) == programme.crc
  units += 1
  busy += now - start
  rest = began + units / @{rate}.to_f - now
  sleep(rest) if rest > 0
end
gateway.close
warn "#{units} flats, #{wrong.size} to be done again"
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: culprit))
