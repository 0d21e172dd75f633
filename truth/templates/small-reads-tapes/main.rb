# Checks the backups that come in, in two threads: the sum of each file of an archive is noted.
require 'json'
require 'zlib'

BLOCK = 512
FACTOR = @{factor}

# An archive, as it comes from the drive.
class Tape
  attr_reader :spent

  def initialize(path)
    @file = File.open(path, 'rb')
    @room = String.new(capacity: FACTOR)
    @at = 0
    @spent = 0.0
  end

  # So much as there is, of the next `most` bytes.
  def @{fn}(most)
    if @at >= @room.bytesize
      start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      @file.sysread(FACTOR, @room)
      @at = 0
      @spent += Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
    end
    piece = @room.byteslice(@at, most)
    @at += piece.bytesize
    piece
  rescue EOFError
    nil
  end

  def any
    @file.pread(BLOCK, rand(@file.size / BLOCK) * BLOCK)
  end

  def close = @file.close
end

class Check
  attr_reader :units, :busy, :reading

  def initialize(catalogue)
    @catalogue = catalogue
    @units = 0
    @busy = 0.0
    @reading = 0.0
    @lock = Mutex.new
  end

  def archive(path)
    start = now
    tape = Tape.new(path)
    @{samples}.positive? ? sample(tape) : each_file(tape) { |name, sum| @catalogue.puts(format('%08x %s', sum, name)) }
    tape.close
    @lock.synchronize do
      @units += 1
      @busy += now - start
      @reading += tape.spent
    end
    File.unlink(path)
  end

  private

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def each_file(tape)
    while (head = tape.@{fn}(BLOCK)) && head.getbyte(0) != 0
      name = head.unpack1('Z100')
      size = head.byteslice(124, 12).oct
      sum = 0
      left = (size + BLOCK - 1) / BLOCK * BLOCK
      while left.positive?
        piece = tape.@{fn}(left)
        sum = Zlib.crc32(piece, sum)
        left -= piece.bytesize
      end
      yield name, sum
    end
  end

  def sample(tape)
    @{samples}.times { @catalogue.puts(format('%08x', Zlib.crc32(tape.any))) }
  end
end

catalogue = File.open('@{work}/catalogue.txt', 'w')
check = Check.new(catalogue)
waiting = SizedQueue.new(4)
worker = Thread.new do
  while (path = waiting.pop)
    check.archive(path)
  end
end
finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + @{seconds}
File.open('@{work}/arrivals') do |arrivals|
  while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish && (line = arrivals.gets)
    waiting << line.chomp
  end
end
waiting << nil
worker.join
catalogue.close
File.write('@{report}', JSON.dump(units: check.units, seconds: check.busy, culprit: check.reading))
