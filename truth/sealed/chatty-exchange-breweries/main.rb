# The cellar book of a brewery: writes down, tank by tank, what the controllers say, and how far the beer has fermented.
require 'json'
require 'socket'

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Controllers
  FIRST = 400

  def initialize(port)
    @line = TCPSocket.new('127.0.0.1', port)
    @line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    @turn = 0
  end

  def @{fn}(tank)
    (0...@{points}).each_slice(@{span}).flat_map { |slice| ask(tank, FIRST + slice.first, slice.size) }
  end

  private

  def ask(tank, first, count)
    @turn = @turn.succ & 0xffff
    @line.write([@turn, 0, 6, tank, 3, first, count].pack('nnnCCnn'))
    turn, _, _, _, function, size = @line.read(9).unpack('nnnCCC')
    raise "tank #{tank}: function #{function}, code #{size}" unless turn == @turn && function == 3

    @line.read(size).unpack('n*')
  end
end

Visits = Struct.new(:units, :seconds, :culprit)

class Cellar
  def initialize(number, book)
    @number = number
    @book = book
    @controllers = Controllers.new(@{gateway})
    @visits = Visits.new(0, 0.0, 0.0)
  end

  def keep(seconds)
    begun = clock
    due = begun + @number * 0.03
    while clock < begun + seconds
      pause = due - clock
      sleep(pause) if pause.positive?
      visit(1 + @visits.units % 12)
      due = [due + 1 / @{rate}, clock - 1].max
    end
    @visits
  end

  private

  def visit(tank)
    start = clock
    points = @controllers.@{fn}(tank)
    @visits.culprit += clock - start
    @book << [@number, tank, format('%.4f', fermented(points)), points.join(',')].join(';')
    @visits.units += 1
    @visits.seconds += clock - start
  end

  def fermented(points)
    level = points.sum / points.size.to_f
    (@{rounds} * 40).times.inject(12.0) { |sugar, hour| sugar - sugar * Math.exp(-level / 9000 - hour % 24 / 31.0) / 900 }
  end
end

book = Queue.new
writer = Thread.new do
  File.open('@{work}/cellar.csv', 'w') do |file|
    while (line = book.pop)
      file.puts(line)
    end
  end
end
visits = Array.new(@{cellars}) { |number| Thread.new { Cellar.new(number, book).keep(@{seconds}) } }.map(&:value)
book.close
writer.join
File.write('@{report}', JSON.generate(Visits.members.to_h { |name| [name, visits.sum(&name)] }))
