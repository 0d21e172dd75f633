# The milk report of a dairy: what the herds gave, and which cows the vet should look at.
require 'json'
require 'socket'

WAY = '@{way}'
def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

# As much of Redis as is needed here.
class Store
  def initialize(port)
    @socket = TCPSocket.new('127.0.0.1', port)
    @socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  end

  def call(*words) = pipeline([words]).first

  def pipeline(commands)
    @socket.write(commands.map { |words| "*#{words.size}\r\n" + words.map { |word| "$#{word.to_s.bytesize}\r\n#{word}\r\n" }.join }.join)
    commands.map { answer }
  end

  private

  def answer
    line = @socket.gets.chomp
    case line[0]
    when '*' then Array.new(line[1..].to_i) { answer }
    when '$' then line == '$-1' ? nil : @socket.read(line[1..].to_i + 2).chomp("\r\n")
    when '-' then raise line
    else line[1..]
    end
  end
end

class Dairy
  attr_reader :asking

  def initialize(store)
    @store = store
    @asking = 0.0
  end

  def stock
    @{herds}.times do |herd|
      ids = Array.new(@{cows}) { |i| herd * 1000 + i }
      @store.call('SADD', "herd:#{herd}", *ids)
      @store.pipeline(ids.map { |id| ['HSET', "@{space}:#{id}", 'name', "Berta #{id % 97}", 'litres', 18 + id % 17, 'age', 2 + id % 9, 'calved', id % 300] })
    end
  end

  def @{fn}(ids)
    start = clock
    found = if WAY == 'together'
              @store.pipeline(ids.map { |id| ['HGETALL', "@{space}:#{id}"] })
            else
              ids.map { |id| @store.call('HGETALL', "@{space}:#{id}") }
            end
    @asking += clock - start
    found.map { |pairs| Hash[*pairs] }
  end

  def ids(number)
    return [number % @{herds} * 1000 + number % @{cows}] if WAY == 'visit'

    @store.call('SMEMBERS', "herd:#{number % @{herds}}").sort
  end

  # Wood's curve: what a cow gives so many days after her calf.
  def lactation(cow)
    calved, litres = cow.values_at('calved', 'litres').map(&:to_i)
    Array.new(@{rations}) do |ration|
      (1..@{days}).sum { |ahead| litres * (0.06 + ration * 1e-4) * (calved + ahead)**0.2 * Math.exp(-0.004 * (calved + ahead)) }
    end.max
  end

  def report(number)
    cows = @{fn}(ids(number))
    sums = cows.map { |cow| lactation(cow) }
    mean = sums.sum / sums.size
    weak = cows.zip(sums).select { |_, sum| sum < mean * 0.6 }.map { |cow, _| cow['name'] }
    "herd #{number % @{herds}}: #{mean.round(1)} litres, vet: #{weak.first(5).join(', ')}"
  end
end

dairy = Dairy.new(Store.new(@{port}))
dairy.stock
units = 0
busy = 0.0
lines = []
began = clock
while clock - began < @{seconds}
  start = clock
  lines << dairy.report(units)
  lines.shift if lines.size > 200
  units += 1
  busy += clock - start
  sleep([0, began + units / @{rate} - clock].max)
end
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: dairy.asking))
