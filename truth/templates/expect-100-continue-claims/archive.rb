# Stands for the archive: takes photos by PUT, and answers with their sums.
require 'socket'
require 'zlib'

def headers(client)
  lines = []
  while (line = client.gets&.chomp) && !line.empty?
    lines << line
  end
  lines.drop(1).to_h { |line| line.downcase.split(/:\s*/, 2) }
end

def take(client)
  while (fields = headers(client)) && fields['content-length']
    client.write("HTTP/1.1 100 Continue\r\n\r\n") if @{answer} == 1 && fields['expect']
    photo = client.read(fields['content-length'].to_i)
    sleep @{store} / 1000
    text = Zlib.crc32(photo).to_s
    client.write("HTTP/1.1 201 Created\r\nContent-Length: #{text.size}\r\n\r\n#{text}")
  end
rescue SystemCallError => e
  warn e
ensure
  client.close
end

listener = TCPServer.new('127.0.0.1', @{archive})
loop do
  client = listener.accept
  client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  Thread.new { take(client) }
end
