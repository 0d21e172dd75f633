# The counter of a freight station: "clear N" is answered by whether consignment N may leave, and what it costs.
require 'socket'
require 'timeout'

Papers = Struct.new(:number, :consignor, :chapter, :value, :grams) do
  def self.of(number)
    draws = Array.new(@{items}) { |item| (number * 2_654_435_761 + item * 40_503) & 0xffffffff }
    new(number, format('P%07d', number * 41 % 2_000_000), number * 31 % 97 + 1, draws.sum { |draw| 200 + draw % 90_000 }, draws.sum { |draw| 10 + draw / 7 % 4000 })
  end
end

class Desk
  LIMIT = 8

  def initialize
    @line = TCPSocket.new('127.0.0.1', @{desk})
    @line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  end

  def @{fn2}(papers)
    @line.write("consignor: #{papers.consignor}\ngoods: #{papers.chapter}\nvalue: #{papers.value}\n\n")
    raise Timeout::Error, 'the desk takes too long' unless @line.wait_readable(LIMIT)

    said = {}
    while (text = @line.gets("\n", chomp: true)) && !text.empty?
      name, value = text.split(': ', 2)
      said[name] = value
    end
    said
  end

  def close = @line.close
end

def serve(shipper)
  desk = Desk.new
  shipper.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  while (line = shipper.gets)
    papers = Papers.of(line.split[1].to_i)
    said = desk.@{fn2}(papers)
    shipper.write("#{papers.number} #{said['verdict']} #{papers.grams} g, value #{papers.value}, duty #{said['duty']}\n")
  end
rescue SystemCallError, Timeout::Error => error
  warn error.message
ensure
  desk&.close
  shipper.close
end

door = TCPServer.new('127.0.0.1', @{port})
door.listen(64)
loop { Thread.new(door.accept) { |shipper| serve(shipper) } }
