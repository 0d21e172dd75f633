# Packs parcels: each gets the number of a waybill, with its check digits, and a barcode. The numbers come from the carrier in blocks.
require 'digest/sha1'
require 'io/wait'
require 'json'
require 'socket'

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Carrier
  def initialize
    @line = TCPSocket.new('127.0.0.1', @{carrier})
    @line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  end

  def block(count)
    @line.write("BLOCK #{count}\n")
    raise 'the carrier takes too long' unless @line.wait_readable(8)

    first = @line.gets[/\d+/].to_i
    (first...first + count).to_a
  end
end

class Roll
  def initialize(carrier)
    @carrier = carrier
    @@{lock} = Mutex.new
    @numbers = []
  end

  def @{fn}
    @@{lock}.synchronize do
      @numbers = @carrier.block(@{block}) if @numbers.empty?
      @numbers.shift
    end
  end
end

# A roll that is never used up: a thread puts the next block behind the last one.
class LongRoll
  def initialize(carrier)
    @numbers = SizedQueue.new(@{block} * 2)
    carrier.block(@{block}).each { |number| @numbers << number }
    Thread.new { loop { carrier.block(@{block}).each { |number| @numbers << number } } }
  end

  def @{fn} = @numbers.pop
end

# The bars of a waybill's label, as letters.
def label(number)
  Array.new(@{rounds}) { |round| Digest::SHA1.digest("#{number} #{round}").unpack('C4').map { |part| '|:.!'[part & 3] }.join }.join
end

Account = Struct.new(:units, :busy, :drawing)

def pack(roll, packer, begun)
  account = Account.new(0, 0.0, 0.0)
  File.open("@{work}/labels-#{packer}.txt", 'w') do |labels|
    while now - begun < @{seconds}
      start = now
      number = roll.@{fn}
      account.drawing += now - start
      labels.puts(format('%d%02d %s', number, 98 - number % 97, label(number)))
      account.units += 1
      account.busy += now - start
      sleep [0, begun + (account.units + packer / 8.0) / @{pace} - now].max
    end
  end
  account
end

roll = @{ahead} == 1 ? LongRoll.new(Carrier.new) : Roll.new(Carrier.new)
begun = now
accounts = Array.new(@{packers}) { |packer| Thread.new { pack(roll, packer, begun) } }.map(&:value)
File.write('@{report}', JSON.generate(units: accounts.sum(&:units), seconds: accounts.sum(&:busy), culprit: accounts.sum(&:drawing)))
