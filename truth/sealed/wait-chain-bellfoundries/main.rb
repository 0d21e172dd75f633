# Takes the orders of a bell foundry: `bell 17 Gloria` in, the engraving's plan out.
require 'socket'
require 'zlib'

class Keeper
  def initialize
    @registry = UNIXSocket.new('@{work}/@{desk}')
    @next = @end = 0
    @asked = Queue.new
    Thread.new { keep }.name = 'keeper'
  end

  def number(answer)
    @asked << answer
    answer.pop
  end

  private

  def @{fn}
    @registry.write("numbers @{block}\n")
    @next, @end = @registry.gets.split.map(&:to_i)
  end

  def keep
    while (answer = @asked.pop)
      @{fn} if @next >= @end
      answer << @next
      @next += 1
    end
  end
end

class Engraver
  def initialize(keeper)
    @keeper = keeper
    @orders = Queue.new
    Thread.new { engrave }.name = 'engraver'
  end

  def plan(bell, name, done)
    @orders << [bell, name, done]
    done.pop
  end

  private

  def engrave
    numbers = Queue.new
    while (order = @orders.pop)
      bell, name, done = order
      number = @keeper.number(numbers)
      done << "#{bell} #{number} #{rim("#{name} No #{number} MMXXVI ").to_s(16)}\n"
    end
  end

  # Where each letter goes around the rim, in tenths of a degree.
  def rim(words)
    widths = (words * 12)[0, @{letters}].bytes.map { |letter| [letter, 4 + letter % 5 + Math.sqrt(letter)] }
    width = widths.sum(&:last)
    at = 0.0
    drawn = widths.map do |letter, wide|
      place = "#{letter.chr}#{at.round}"
      at += 3600 * wide / width
      place
    end
    Zlib.crc32(drawn.join(','))
  end
end

engraver = Engraver.new(Keeper.new)
door = TCPServer.new('127.0.0.1', @{port})
loop do
  Thread.new(door.accept) do |line|
    line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    done = Queue.new
    while (asked = line.gets)
      _, bell, name = asked.split
      line.write(engraver.plan(bell.to_i, name, done))
    end
    line.close
  end
end
