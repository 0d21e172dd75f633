require "socket"
require "json"
require "zlib"

# Copies images of the archive into the cache.
def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Archive
  attr_reader :spent

  def initialize(port)
    @line = TCPSocket.new("127.0.0.1", port)
    @line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    @spent = 0.0
  end

  def range(name, first, last)
    @line.write("GET /#{name} HTTP/1.1\r\nHost: archive\r\nRange: bytes=#{first}-#{last}\r\n\r\n")
    length = 0
    while (head = @line.gets.chomp) != ""
      length = head.split.last.to_i if head.start_with?("Content-Length")
    end
    @line.read(length)
  end

  def @{fn}(name, into)
    began = clock
    0.step(@{size} - 1, @{piece}) do |first|
      into << range(name, first, [first + @{piece}, @{size}].min - 1)
    end
    @spent += clock - began
    into
  end
end

archive = Archive.new(@{store})
began = clock
units = 0
busy = 0.0
cache = {}
while clock - began < @{seconds}
  start = clock
  image = archive.@{fn}("image-#{units}", String.new(capacity: @{size}))
  cache[units % 50] = Zlib.crc32(image)
  units += 1
  busy += clock - start
  rest = began + units / @{pace} - clock
  sleep(rest) if rest > 0
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: archive.spent))
