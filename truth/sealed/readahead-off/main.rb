require "json"
require "socket"
require "zlib"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

# The catalogue of segments; the pool of readers works the arrivals off.
class Catalogue
  attr_reader :units, :busy, :reading

  def initialize
    @units, @busy, @reading, @sums = 0, 0.0, 0.0, {}
    @arrivals = SizedQueue.new(4)
    @reader = Thread.new { work while true }
  end

  def <<(path)
    @arrivals << path
  end

  def @{fn}(file)
    sum = 0
    block = String.new(capacity: @{step})
    loop do
      start = now
      file.sysread(@{step}, block)
      @reading += now - start
      sum = Zlib.crc32(block, sum)
    end
  rescue EOFError
    sum
  end

  def samples(file)
    start = now
    sums = Array.new(@{samples}) { |i| Zlib.crc32(file.pread(@{step}, (i * 7919 + @units * 31) % (@{rows} - 2) * 4096)) }
    @reading += now - start
    sums.sum
  end

  def work
    path = @arrivals.pop
    start = now
    File.open(path, "rb") do |file|
      file.advise(:@{advice})
      @sums[File.basename(path)] = @{samples} > 0 ? samples(file) : @{fn}(file)
    end
    @sums.shift if @sums.size > 100
    @busy += now - start
    File.unlink(path)
    @units += 1
  end
end

catalogue = Catalogue.new
courier = TCPSocket.new("127.0.0.1", @{port})
courier.puts(format("%.3f %d", @{load} * 12_000 / @{rows}, @{rows}))
began = now
while now - began < @{seconds} && (line = courier.gets)
  catalogue << line.chomp
end
File.write("@{report}", JSON.generate(units: catalogue.units, seconds: catalogue.busy, culprit: catalogue.reading))
