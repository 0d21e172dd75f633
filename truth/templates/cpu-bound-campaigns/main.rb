# Plans campaigns of a publisher: who gets which letter, and by which provider.
require 'socket'
require 'set'

class Planner
  def initialize(path)
    @left = File.readlines(path, chomp: true).map { |line| line.strip.downcase }
    @known = @left.to_set if '@{way}' == 'set'
  end

  def readers_of(segment)
    Array.new(@{readers}) do |i|
      number = (segment * 977 + i * 613) % 100_003
      "Reader#{number}@mail#{i % 9}.example".downcase
    end
  end

  def @{fn}(readers)
    wanted = []
    readers.each do |reader|
      wanted << reader unless @left.include?(reader)
    end
    wanted
  end

  def without(readers)
    readers.reject { |reader| @known.include?(reader) }
  end

  def providers(readers)
    counts = Hash.new(0)
    readers.each { |reader| counts[reader.split('@').last] += 1 }
    counts.sort_by { |_, count| -count }.first(4).map { |name, count| "#{name}=#{count}" }
  end

  def plan(number)
    readers = readers_of(number)
    wanted = @known ? without(readers) : @{fn}(readers)
    "#{number} #{wanted.size} of #{readers.size} #{providers(wanted).join(',')}"
  end
end

def talk(socket, planner)
  socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  while (line = socket.gets)
    word, number = line.split
    socket.write(word == 'campaign' ? planner.plan(number.to_i) + "\n" : "error: campaign NUMBER\n")
  end
rescue SystemCallError
  nil
ensure
  socket.close
end

planner = Planner.new('@{work}/@{gone}')
server = TCPServer.new('127.0.0.1', @{port})
loop { Thread.new(server.accept) { |socket| talk(socket, planner) } }
