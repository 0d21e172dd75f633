# Makes the labels of honey jars: `labels 17` in, how many and their seal out.
require 'socket'
require 'zlib'

class Lots
  RECORD = 32

  def initialize(path)
    @path = path
    @read = 0.0
  end

  def @{fn}
    now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    if @table.nil? || now - @read >= @{fresh}
      @table = File.binread(@path)
      @read = now
    end
    @table
  end

  def find(lot)
    record = @{fn}.byteslice(lot * RECORD, RECORD)
    [record[0, 6], record[7, 16].rstrip, record[24, 7]]
  end
end

LOTS = Lots.new('@{work}/@{table}')

# The number under the bars, with its check digit.
def code(jar)
  digits = format('40%010d', jar % 10**10)
  sum = 0
  digits.each_byte.with_index { |digit, at| sum += (digit - 48) * (at.odd? ? 3 : 1) }
  "#{digits}#{(10 - sum % 10) % 10}"
end

def labels(order)
  seal = 0
  @{jars}.times do |jar|
    name, valley, best = LOTS.find((order * 5 + jar / 8) % @{lots})
    seal = Zlib.crc32("#{name}|#{valley}|#{best}|#{code(order * @{jars} + jar)}", seal)
  end
  seal
end

server = TCPServer.new('127.0.0.1', @{port})
loop do
  Thread.new(server.accept) do |line|
    line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (asked = line.gets)
      line.write("made @{jars} #{labels(asked.split[1].to_i % 100_000).to_s(16)}\n")
    end
    line.close
  end
end
