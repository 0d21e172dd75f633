# A translation memory. "exact N" is answered by the translation of segment N, "near N" by the segments that are most like text N.
require 'digest'
require 'socket'

WORDS = %w[please remove cover before cleaning never open valve while pump running check pressure gauge close main switch turn handle slowly].freeze

def segment(number)
  chance = Random.new(number)
  Array.new(6 + number % 4) { WORDS[chance.rand(WORDS.size)] }
end

class Memory
  def initialize(size)
    @segments = Array.new(size) { |number| segment(number) }
  end

  def exact(number)
    text = @segments[number % @segments.size].join(' ')
    "#{Digest::MD5.hexdigest(text)} #{text.upcase}"
  end

  def @{fn}(text)
    @segments.each_with_index.min_by(3) { |known, _| distance(text, known) }.map(&:last).join(' ')
  end

  private

  # How many words differ.
  def distance(one, other)
    above = (0..other.size).to_a
    one.each_with_index do |word, i|
      row = [i + 1]
      other.each_with_index do |known, j|
        least = word == known ? above[j] : above[j] + 1
        least = above[j + 1] + 1 if above[j + 1] < least - 1
        least = row[j] + 1 if row[j] < least - 1
        row << least
      end
      above = row
    end
    above.last
  end
end

# A process that searches the memory for whoever has it: a line each way.
class Searcher
  attr_reader :line

  def initialize(memory)
    @line, theirs = UNIXSocket.pair
    @asked = []
    fork do
      @line.close
      while (text = theirs.gets)
        theirs.puts(memory.@{fn}(text.split))
      end
    end
    theirs.close
  end

  def ask(text, translator)
    @asked << translator
    @line.puts(text.join(' '))
  end

  def answer = @asked.shift.write(@line.gets)
end

class Service
  def initialize(memory)
    @memory = memory
    @searcher = Searcher.new(memory) if '@{place}' == 'aside'
    @door = TCPServer.new('127.0.0.1', @{port})
    @door.listen(64)
    @rest = {}
  end

  def answer(translator, verb, number)
    return translator.write("#{@memory.exact(number)}\n") if verb == 'exact'

    text = [*segment(number * 7), 'again']
    return @searcher.ask(text, translator) if @searcher

    translator.write("#{@memory.@{fn}(text)}\n")
  end

  def hear(translator)
    @rest[translator] << translator.read_nonblock(4096)
    while (line = @rest[translator].slice!(/\A[^\n]*\n/))
      verb, number = line.split
      answer(translator, verb, number.to_i)
    end
  rescue EOFError, SystemCallError
    @rest.delete(translator)
    translator.close
  end

  def run
    loop do
      ready, = IO.select([@door, @searcher&.line, *@rest.keys].compact)
      ready.each do |line|
        case line
        when @door
          translator = @door.accept
          translator.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
          @rest[translator] = +''
        when @searcher&.line then @searcher.answer
        else hear(line)
        end
      end
    end
  end
end

Service.new(Memory.new(@{segments})).run
