# Doors: a badge is held to one, and it opens or not.
require 'socket'

def admits?(gate, door, badge)
  gate.write([door, badge].pack('nN'))
  gate.read(5).unpack1('x4C') == 1
end

listener = TCPServer.new('127.0.0.1', @{port})
loop do
  Thread.new(listener.accept) do |client|
    gate = TCPSocket.new('127.0.0.1', @{gate})
    [gate, client].each { |socket| socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1) }
    while (line = client.gets)
      badge = line.split.last.to_i
      client.puts(admits?(gate, badge % 40, badge) ? 'open' : 'closed')
    end
  rescue SystemCallError
    client.close
  end
end
