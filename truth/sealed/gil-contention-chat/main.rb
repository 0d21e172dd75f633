# A chat server: keeps the last lines of each room. Beside that it finds which words are alike, for the search.
require 'json'
require 'socket'

ROOMS = Hash.new { |rooms, number| rooms[number] = [] }
RELATED = {}

def words(count)
  chance = Random.new(count)
  letters = 'aeioubdfghklmnprstvw'.chars
  Array.new(count) { Array.new(chance.rand(5..11)) { letters.sample(random: chance) }.join }
end

# How many letters have to be changed to make one word the other.
def distance(one, other)
  row = (0..other.size).to_a
  one.each_char.with_index(1) do |letter, i|
    previous = row[0]
    row[0] = i
    other.each_char.with_index(1) do |mate, j|
      step = previous + (letter == mate ? 0 : 1)
      previous = row[j]
      row[j] = [row[j] + 1, row[j - 1] + 1, step].min
    end
  end
  row.last
end

def @{fn}(known)
  known.to_h { |word| [word, known.reject { |other| other == word }.min_by { |other| distance(word, other) }] }
end

def relate_apart(known)
  from, to = IO.pipe
  fork do
    from.close
    Process.setpriority(Process::PRIO_PROCESS, 0, 10)
    loop do
      to.puts JSON.generate(@{fn}(known))
      sleep @{pause}
    end
  end
  to.close
  from.each_line { |line| RELATED.update(JSON.parse(line)) }
end

def relate(known)
  loop do
    RELATED.update(@{fn}(known))
    sleep @{pause}
  end
end

Thread.new { @{apart} == 1 ? relate_apart(words(@{pick})) : relate(words(@{pick})) }
listener = TCPServer.new('127.0.0.1', @{port})
listener.listen(64)
loop do
  Thread.new(listener.accept) do |guest|
    guest.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (line = guest.gets)
      _, room, *said = line.split
      kept = ROOMS[room.sum % @{rooms}]
      kept << said.join(' ')
      kept.shift if kept.size > 50
      guest.write("#{room} #{kept.size} #{said.map { |word| RELATED[word].to_s }.join(' ')}\n")
    end
  rescue SystemCallError
    nil
  ensure
    guest.close
  end
end
