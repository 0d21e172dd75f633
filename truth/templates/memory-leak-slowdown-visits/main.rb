# Answers who of a dating site may like whom: by what they and all before them looked at.
require 'logger'
require 'socket'

Look = Struct.new(:profile, :at, :note)

# One evening of one person.
class Evening
  attr_reader :looks

  def initialize(number)
    @looks = Array.new(@{looks} / 2) { |i| Look.new((number * 31 + i * i) % 9000, number * 1000 + i, "looked-#{i}") }
  end
end

class Site
  def initialize(log)
    @log = log
    @evenings = []
    @number = 0
    @lock = Mutex.new
    # What came before the last restart.
    @{fn} while @evenings.size < @{most} * 2 / 3
  end

  def @{fn}
    @number += 1
    @evenings << Evening.new(@number)
    @evenings.shift(@evenings.size - @{most}) if @evenings.size > @{most}
    @evenings.last
  end

  def letter(name, words)
    words.map { |word| "#{name} likes #{word}, and so do #{word.size * 3} others near you" }.join("\n") * 30
  end

  def liked(evening)
    best = []
    (1 + @{effort} / 4).times do |pass|
      counts = Hash.new(0)
      @{words}.times { |i| counts["profile-#{(evening.looks[(i * 7 + pass) % evening.looks.size].profile * 17 + i % 40) % 5000}"] += 1 }
      best = counts.sort_by { |name, count| [-count, name] }.first(5).map(&:first)
      @size = letter(best.first, counts.keys).size
    end
    best
  end

  def serve(socket)
    socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (line = socket.gets)
      best = @lock.synchronize do
        evening = @{fn}
        30.times { @{fn} }
        liked(evening)
      end
      @log.info("#{line.strip}: #{best.first}")
      socket.write("#{best.join(',')}\n")
    end
  rescue SystemCallError => e
    @log.info("left: #{e.message}")
  ensure
    socket.close
  end

  def open
    door = TCPServer.new('127.0.0.1', @{port})
    loop { Thread.new(door.accept) { |socket| serve(socket) } }
  end
end

log = Logger.new('@{work}/evenings.log')
Site.new(log).open
