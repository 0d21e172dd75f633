# Tells yachts about an anchorage: its ground, its depth, and how much chain to pay out. "anchorage N" is answered by a line.
require "socket"

class Book
  def initialize(path)
    @path = path
    @text = String.new(capacity: 8 << 20, encoding: Encoding::BINARY)
  end

  def @{fn}
    return @text if @{keep} == 1 && !@text.empty?

    File.open(@path, "rb") { |file| file.read(file.size, @text) }
    @text
  end

  def entry(number)
    text = @{fn}
    from = text.byteindex(format("#%06d|", number)) if text.respond_to?(:byteindex)
    from ||= text.index(format("#%06d|", number))
    text[from, text.index("\n", from) - from].split("|")
  end
end

# How far the boat swings, by the catenary of its chain.
def chain(depth)
  length = depth * 3.0 + 10
  @{rounds}.times { |i| length += (Math.sqrt(length**2 - depth**2) - length + depth / 9.0) / (i + 2) }
  length.round
end

def answer(book, question)
  _, number = question.split
  _, ground, depth, remark = book.entry(number.to_i % @{entries})
  warning = File.read("@{work}/@{notice}").strip if @{today} == 1
  [ground.strip, depth, chain(depth.to_i + 2), remark, warning].compact.join("; ")
end

server = TCPServer.new("127.0.0.1", @{port})
loop do
  Thread.new(server.accept) do |yacht|
    yacht.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    book = Book.new("@{work}/@{book}")
    while (question = yacht.gets)
      yacht.write(answer(book, question) + "\n")
    end
  rescue SystemCallError => e
    warn e.message
  ensure
    yacht.close
  end
end
