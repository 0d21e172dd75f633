# Guests see offers; a thread learns from the broker what there is.
require 'json'
require 'monitor'
require 'socket'

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Board
  def initialize
    @@{lock} = Monitor.new
    @broker = TCPSocket.new('127.0.0.1', @{port})
    @seen = { 0 => 1.0 }
  end

  def ask
    @broker.puts 'offers'
    @broker.gets.to_f
  end

  def @{fn}
    if @{inside} == 1
      @@{lock}.synchronize { @seen[@seen.size % 50] = ask }
    else
      price = ask
      @@{lock}.synchronize { @seen[@seen.size % 50] = price }
    end
  end

  def best
    start = clock
    @@{lock}.synchronize { [clock - start, @seen.values.min] }
  end
end

board = Board.new
Thread.new do
  Thread.current.name = 'broker'
  loop do
    board.@{fn}
    sleep @{every} / 1000.0
  end
end
began = clock
guests = Array.new(@{threads}) do |number|
  Thread.new do
    units = 0
    busy = waited = 0.0
    sleep number * 0.009
    while clock - began < @{seconds}
      start = clock
      took, price = board.best
      waited += took
      reading = clock
      format('%.2f EUR', price * units) while clock - reading < @{effort} / 1000.0
      units += 1
      busy += clock - start
      sleep 1.0 / @{rate}
    end
    [units, busy, waited]
  end
end
units, busy, waited = guests.map(&:value).transpose.map(&:sum)
File.write('@{report}', JSON.dump({ units: units, seconds: busy, culprit: waited }))
exit!(0)
