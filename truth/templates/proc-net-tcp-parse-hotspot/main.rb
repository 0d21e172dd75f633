# The portal of a marina's wireless network: lets a boat's phone in if there is room for its connections.
require 'digest'
require 'socket'

class Census
  def initialize
    @line = TCPSocket.new('127.0.0.1', @{desk})
    @line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  end

  def open
    @line.write("open\n")
    @line.gets.to_i
  end

  def close = @line.close
end

def @{fn2}(census, phone)
  return 'full' if census.open >= @{most}

  berth = phone % @{rooms}
  "welcome #{Digest::SHA256.hexdigest("#{berth}/#{phone}")[0, 24]}"
end

door = TCPServer.new('127.0.0.1', @{port})
loop do
  Thread.new(door.accept) do |client|
    client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    census = Census.new
    while (line = client.gets)
      client.write("#{@{fn2}(census, line.split.last.to_i)}\n")
    end
  rescue SystemCallError => e
    warn e.message
  ensure
    census&.close
    client.close
  end
end
