# Shows baskets: what is in them, and what it costs.
require 'socket'

class Store
  def initialize
    @line = UNIXSocket.new('@{work}/@{sock}')
  end

  def get(*keys)
    @line.write([0xA7, keys.size, *keys].pack('CnQ>*'))
    count = @line.read(3).unpack1('xn')
    Array.new(count) do
      cents, size = @line.read(6).unpack('Nn')
      [cents, @line.read(size)]
    end
  end

  def close = @line.close
end

def basket(number)
  Array.new(@{lines}) { |i| (number * 1009 + i * 97) % 100_003 }
end

def @{fn}(store, keys)
  return store.get(*keys).sum(&:first) if '@{ask}' == 'all'

  total = 0
  keys.each do |key|
    cents, = store.get(key).first
    total += cents
  end
  total
end

listener = TCPServer.new('127.0.0.1', @{port})
loop do
  Thread.new(listener.accept) do |client|
    store = Store.new
    client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (line = client.gets)
      client.puts "total #{@{fn}(store, basket(line.split.last.to_i))}"
    end
  rescue SystemCallError
    client.close
  end
end
