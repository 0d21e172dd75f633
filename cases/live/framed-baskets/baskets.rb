# Shows baskets of 25 articles: baskets.rb PORT STORE_PORT BOARD_PORT [at-once]. One connection to the store a client.
require "socket"

PORT, STORE, BOARD = ARGV.first(3).map(&:to_i)
AT_ONCE = ARGV.include?("at-once")

def frame(numbers) = [numbers.size * 8, *numbers].pack("NQ>*")

def read_frame(from)
  head = from.read(4) or return
  from.read(head.unpack1("N")).unpack("Q>*")
end

def connect(port)
  TCPSocket.new("127.0.0.1", port).tap { |socket| socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1) }
end

def ask(store, keys)
  store.write(frame(keys))
  read_frame(store)
end

def prices(store, basket)
  keys = (1..25).map { |article| basket * 1009 + article * 97 }
  AT_ONCE ? ask(store, keys) : keys.flat_map { |key| ask(store, [key]) }
end

board = connect(BOARD)
Thread.new { board.each_line {} }
door = TCPServer.new("127.0.0.1", PORT)
loop do
  client = door.accept
  client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  Thread.new do
    store = connect(STORE)
    while (baskets = read_frame(client))
      client.write(frame(prices(store, baskets[0])))
      board.write("basket #{baskets[0]}\n")
    end
  end
end
