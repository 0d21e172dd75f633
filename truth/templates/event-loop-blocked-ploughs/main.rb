# The control centre of the snow ploughs. GET /next tells a driver the next street of the round; the police say by datagrams which streets are shut or open.
require 'json'
require 'socket'

HERE = '@{place}' == 'here'
EFFORT = @{effort} / 1000.0

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Planner
  def initialize
    @chance = Random.new(5)
    @places = Array.new(@{streets}) { [@chance.rand * 9000, @chance.rand * 6000] }
  end

  def between(from, to)
    (ax, ay), (bx, by) = @places[from], @places[to]
    Math.hypot(ax - bx, ay - by)
  end

  # Turns parts of the round about, as long as there is time, and keeps what makes it shorter.
  def @{fn}(round)
    size = round.size
    round = round.dup
    stop = clock + EFFORT
    while clock < stop
      30.times do
        i = @chance.rand(size - 2)
        j = i + 1 + @chance.rand(size - i - 2)
        a, b, c, d = round[i], round[i + 1], round[j], round[j + 1]
        gain = between(a, b) + between(c, d) - between(a, c) - between(b, d)
        round[i + 1..j] = round[i + 1..j].reverse if gain > 0
      end
    end
    round
  end
end

class Centre
  def initialize
    @planner = Planner.new
    @shut = {}
    @round = (0...@{streets}).to_a
    @at = 0
    @door = TCPServer.new('127.0.0.1', @{port})
    @notes = UDPSocket.new
    @notes.bind('127.0.0.1', @{notes})
    @drivers = {}
    @aside = HERE ? nil : start_aside
  end

  def start_aside
    ours, theirs = UNIXSocket.pair
    fork do
      ours.close
      @door.close
      @notes.close
      while (line = theirs.gets)
        theirs.puts JSON.generate(@planner.@{fn}(JSON.parse(line)))
      end
    end
    theirs.close
    ours
  end

  def open_streets
    kept = @round.reject { |street| @shut[street] }
    kept + ((0...@{streets}).to_a - kept).reject { |street| @shut[street] }
  end

  def note
    word, street = @notes.recv(64).split
    word == 'shut' ? @shut[street.to_i] = true : @shut.delete(street.to_i)
    @round = open_streets
    if HERE
      @round = @planner.@{fn}(@round)
    else
      @aside.puts JSON.generate(@round)
    end
  end

  def planned
    @round = JSON.parse(@aside.gets)
    @round = open_streets
  end

  def ask(driver)
    asked = @drivers[driver]
    asked << driver.read_nonblock(4096)
    while (head = asked.slice!(/\A.*?\r\n\r\n/m))
      @at = (@at + 1) % @round.size
      body = JSON.generate(plough: head[/plough=(\d+)/, 1].to_i, street: @round[@at], left: @round.size - @at)
      driver.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}")
    end
  rescue EOFError, SystemCallError
    @drivers.delete(driver)
    driver.close
  end

  def run
    loop do
      ready, = IO.select([@door, @notes, @aside, *@drivers.keys].compact)
      ready.each do |one|
        case one
        when @door
          driver = @door.accept
          driver.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
          @drivers[driver] = String.new
        when @notes then note
        when @aside then planned
        else ask(one)
        end
      end
    end
  end
end

Centre.new.run
