# The registers of births of a diocese, page by page, for whoever asks.
require "digest/md5"
require "socket"

class Volume
  SIZE = @{page_kb} * 1024

  def initialize(path)
    @file = File.open(path, "rb")
    @pages = [@file.size / SIZE, @{open}].min
  end

  def @{fn}(page)
    @file.pread(SIZE, page * SIZE)
  end

  def find(number)
    (number * 2_654_435_761 & 0xffffffff) % @pages
  end
end

def serve(reader, volume)
  while (ask = reader.gets)
    until (header = reader.gets.to_s.strip).empty?; end
    page = volume.find(ask[%r{/page/(\d+)}, 1].to_i + 1)
    text = volume.@{fn}(page)
    reader.write("HTTP/1.1 200 OK\r\nETag: #{Digest::MD5.hexdigest(text)}\r\nContent-Length: #{text.bytesize}\r\n\r\n#{text}")
  end
rescue SystemCallError
  nil
ensure
  reader.close
end

volume = Volume.new("@{work}/@{disk}/@{data}")
room = TCPServer.new("127.0.0.1", @{port})
loop do
  reader = room.accept
  reader.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  Thread.new { serve(reader, volume) }
end
