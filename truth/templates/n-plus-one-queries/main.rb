require "socket"
require "json"
require "zlib"

# Lists of entries over HTTP; each worker thread has its own line to the store.
class Store
  def initialize(port)
    @line = TCPSocket.new("127.0.0.1", port)
    @line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  end

  def call(*words)
    @line.write("*#{words.size}\r\n" + words.map { |w| "$#{w.bytesize}\r\n#{w}\r\n" }.join)
    answer
  end

  def answer
    head = @line.gets("\r\n")
    case head[0]
    when "*" then Array.new(head[1..].to_i) { answer }
    when "$" then head[1] == "-" ? nil : @line.read(head[1..].to_i + 2).chomp("\r\n")
    else head[1..].chomp
    end
  end
end

# An entry loads its text when it is first asked for it.
class Entry
  def initialize(store, key, text = nil)
    @store, @key, @text = store, key, text
  end

  def @{fn}
    @text ||= @store.call("GET", @key)
  end

  def to_json(*rest) = @{fn}.to_json(*rest)
end

def list(store, first)
  keys = (0...@{shown}).map { |i| "@{prefix}:#{(first + i) % (@{entries} * 4)}" }
  texts = @{single} == 1 ? [] : store.call("MGET", *keys)
  keys.each_with_index.map { |key, i| Entry.new(store, key, texts[i]) }
end

server = TCPServer.new("127.0.0.1", @{port})
loop do
  Thread.new(server.accept) do |client|
    client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    store = Store.new(@{store})
    while (ask = client.gets)
      nil until client.gets.strip.empty?
      body = JSON.generate(list(store, ask[/\d+/].to_i * @{entries}))
      mark = 0
      @{rounds}.times { mark = Zlib.adler32(body, mark) }
      client.write("HTTP/1.1 200 OK\r\nETag: #{mark}\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}")
    end
  rescue SystemCallError
    client.close
  end
end
