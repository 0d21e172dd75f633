# The head office of the car parks: `CHANGES since` is answered by one line of `ticket=days` words.
require 'socket'

server = TCPServer.new('127.0.0.1', @{office})
loop do
  Thread.new(server.accept) do |socket|
    socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (line = socket.gets)
      since = line.split.last.to_i
      sleep @{takes_ms} / 1000.0 * (0.85 + rand * 0.3)
      changes = Array.new(12) { |i| "#{(since * 131 + i * 17) % @{tickets}}=#{1 + (since + i) % 90}" }
      socket.write("#{changes.join(' ')}\n")
    end
  rescue SystemCallError
    socket.close
  end
end
