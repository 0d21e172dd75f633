# Plans the rounds of a waste collection.
require 'socket'
require 'tempfile'

# Sorts more lines than it may hold at once.
class Sorter
  def initialize(limit)
    @limit = limit
    @lines = []
    @runs = []
  end

  def <<(line)
    @lines << line
    @{fn} if @lines.size >= @limit
  end

  def each(&)
    return @lines.sort.each(&) if @runs.empty?

    @{fn} unless @lines.empty?
    heads = @runs.map { |run| [run.gets, run] }.sort_by(&:first)
    until heads.empty?
      head, run = heads.shift
      yield head.chomp
      following = run.gets or next
      at = heads.bsearch_index { |other, _| other >= following } || heads.size
      heads.insert(at, [following, run])
    end
  end

  def done = @runs.each(&:close!)

  private

  def @{fn}
    run = Tempfile.new('@{prefix}', '@{work}/@{scratch}')
    run.write(@lines.sort.join("\n"), "\n")
    run.rewind
    @runs << run
    @lines.clear
  end
end

class Rounds
  def initialize(limit)
    @limit = limit
  end

  def plan(number, bins)
    sorter = Sorter.new(@limit)
    bins.times { |i| sorter << bin(number, i) }
    streets = 0
    first = last = nil
    sorter.each do |line|
      first ||= line
      street = line[0, 11]
      streets += 1 if street != last
      last = street
    end
    "#{streets} streets, first #{first}"
  ensure
    sorter.done
  end

  private

  def bin(number, i)
    mixed = (number * 7919 + i) * 2_654_435_761 & 0xffffffff
    "street #{1000 + (mixed >> 20)} house #{mixed >> 8 & 255} bin #{i} #{mixed % 100}% full"
  end
end

def serve(depot, rounds)
  depot.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  while (line = depot.gets)
    number = line.split.last.to_i
    depot.write("round #{number}: #{rounds.plan(number, @{bins})}\n")
  end
rescue SystemCallError => e
  warn e.message
ensure
  depot.close
end

if @{year}.positive?
  Thread.new do
    (2000..).each do |year|
      sleep @{year} * 3
      Rounds.new(3000).plan(year, 8000)
    end
  end
end
rounds = Rounds.new(@{most})
Socket.tcp_server_loop('127.0.0.1', @{port}) { |depot, _| Thread.new { serve(depot, rounds) } }
