# The office of a quarry's weighbridge: a process for each terminal, one for the cashier, one for the cabin that talks to the scale.
require 'digest'
require 'drb/unix'
require 'socket'

CABIN = 'drbunix:@{work}/cabin.sock'
DESK = 'drbunix:@{work}/@{desk}'
LIMITS = [7500, 12_000, 18_000, 26_000, 40_000].freeze

# Talks to the scale.
class Cabin
  def initialize
    @scale = UDPSocket.new
    @scale.connect('127.0.0.1', @{scale})
  end

  def kilos(truck)
    @scale.send("#{truck}\n", 0)
    @scale.recv(200).to_i
  end
end

# Takes one weighing after the other, as there is one scale.
class Cashier
  def initialize
    @cabin = DRbObject.new_with_uri(CABIN)
    @turn = Queue.new
    @turn << :free
  end

  def weigh(truck)
    turn = @turn.pop
    kilos = @cabin.kilos(truck)
    { truck: truck, kilos: kilos, cents: 900 + 350 * LIMITS.count { |limit| kilos > limit } }
  ensure
    @turn << turn if turn
  end
end

def in_a_process(uri)
  path = uri.delete_prefix('drbunix:')
  pid = fork do
    DRb.start_service(uri, yield)
    DRb.thread.join
  end
  sleep 0.005 until File.socket?(path)
  pid
end

class Terminal
  def initialize(line)
    @line = line
    @line.setsockopt(:TCP, :NODELAY, 1)
    @cashier = DRbObject.new_with_uri(DESK)
  end

  def @{fn}(truck)
    @cashier.weigh(truck)
  end

  def mark(note)
    (1..@{rounds}).reduce(note) { |digest, _| Digest::SHA256.digest(digest) }.unpack1('H16')
  end

  def serve
    while (asked = @line.gets)
      one = @{fn}(asked[/\d+/].to_i)
      note = format('truck %<truck>d: %<kilos>d kg, %<euro>.2f euro', euro: one[:cents] / 100.0, **one)
      @line.write("#{note}, mark #{mark(note)}\n")
    end
  end
end

in_a_process(CABIN) { Cabin.new }
in_a_process(DESK) { Cashier.new }
door = TCPServer.new('127.0.0.1', @{port})
loop do
  line = door.accept
  Process.detach(fork do
    door.close
    Terminal.new(line).serve
  end)
  line.close
end
