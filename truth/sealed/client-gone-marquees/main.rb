# The weather over a fair: gusts that the people in the tents have to know of.
require 'socket'

class Tent
  def initialize
    @guard = Mutex.new
    @news = ConditionVariable.new
    @version = 0
    @gusts = []
  end

  def blow(knots)
    @guard.synchronize do
      @version += 1
      @gusts = (@gusts << "gust #{@version} of #{knots} knots").last(10)
      @news.broadcast
    end
  end

  def after(seen, hold)
    @guard.synchronize do
      was = @version
      @news.wait(@guard, hold) if seen.zero? || was <= seen
      [@version, @gusts.last([@version - seen, 0].max)]
    end
  end
end

TENTS = Array.new(@{tents}) { Tent.new }

def @{fn}(display, tent, seen)
  version, gusts = TENTS[tent % TENTS.size].after(seen, @{hold})
  display.write("gusts #{gusts.size} #{version}\n")
  display.write(gusts.map { |gust| "#{gust}\n" }.join + "\n")
end

def serve(display)
  display.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  while (line = display.gets)
    verb, tent, seen = line.split
    next unless verb == '@{verb}'
    @{fn}(display, tent.to_i, seen.to_i)
  end
rescue SystemCallError, IOError
  # The next one.
ensure
  display.close
end

TENTS.each do |tent|
  Thread.new do
    loop do
      sleep @{change_s} * rand(0.7..1.3)
      tent.blow(rand(5..40))
    end
  end
end
server = TCPServer.new('127.0.0.1', @{port})
loop { Thread.new(server.accept) { |display| serve(display) } }
