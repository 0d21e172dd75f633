# Plans the rounds of the beekeepers of a co-operative. `round N` is answered by one line: the hives to open today, the most urgent first, and the way between them.
require 'socket'

KEEPERS = @{keepers}
TODAY = 20_260_331

Visit = Struct.new(:hive, :day, :weight, :mites, :queen, :x, :y)

class Weights
  def initialize(path)
    @values = File.readlines(path, chomp: true).reject(&:empty?).to_h do |line|
      name, value = line.split('=').map(&:strip)
      [name, value.to_f]
    end
  end

  def [](name) = @values.fetch(name)
end

# A line to the book of the hives.
class HiveBook
  def initialize(path)
    @line = UNIXSocket.new(path)
  end

  def hives(keeper)
    ask("apiary #{keeper}").split.drop(1).map(&:to_i)
  end

  def last_visit(hive)
    parse(ask("visit #{hive}").delete_prefix('visit '))
  end

  def last_visits(hives)
    ask("visits #{hives.join(' ')}").delete_prefix('visits ').split('; ').map { |text| parse(text) }
  end

  private

  def ask(question)
    @line.write("#{question}\n")
    @line.gets or raise IOError, 'the book is closed'
  end

  def parse(text)
    hive, day, weight, mites, queen, x, y = text.split
    Visit.new(hive.to_i, day.to_i, weight.to_f, mites.to_i, queen.to_i, x.to_i, y.to_i)
  end
end

class Planner
  def initialize(book, weights, shelf)
    @book = book
    @weights = weights
    @shelf = shelf
  end

  def @{fn}(hives)
    case '@{way}'
    when 'one' then hives.map { |hive| @book.last_visit(hive) }
    when 'list' then @book.last_visits(hives)
    else hives.map { |hive| @shelf.fetch(hive) }
    end
  end

  def urgency(visit)
    ((TODAY - visit.day) * @weights['days']) + (visit.mites * @weights['mites']) + (visit.queen * @weights['queen']) - (visit.weight / 10)
  end

  # From each hive to the nearest that is left.
  def way(visits)
    left = visits.dup
    at = left.shift
    path = 0.0
    until left.empty?
      following = left.min_by { |one| Math.hypot(one.x - at.x, one.y - at.y) }
      path += Math.hypot(following.x - at.x, following.y - at.y)
      left.delete(following)
      at = following
    end
    path
  end

  def round(keeper)
    visits = @{fn}(@book.hives(keeper)).sort_by { |visit| -urgency(visit) }
    chosen = visits.first([1, (visits.size * @weights['keep']).ceil].max)
    "keeper #{keeper} hives #{chosen.map(&:hive).join(' ')} metres #{way(chosen).round}"
  end
end

weights = Weights.new('@{work}/weights.conf')
shelf = {}
if '@{way}' == 'shelf'
  book = HiveBook.new('@{work}/@{book}')
  KEEPERS.times { |keeper| book.hives(keeper).each { |hive| shelf[hive] = book.last_visit(hive) } }
end

rounds = 0
door = TCPServer.new('127.0.0.1', @{port})
loop do
  Thread.new(door.accept) do |keeper|
    keeper.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    planner = Planner.new(HiveBook.new('@{work}/@{book}'), weights, shelf)
    while (line = keeper.gets)
      keeper.write("#{planner.round(line[/\d+/].to_i % KEEPERS)}\n")
      rounds += 1
      warn "#{rounds} rounds planned" if (rounds % 200).zero?
    end
  rescue SystemCallError
    nil
  ensure
    keeper.close
  end
end
