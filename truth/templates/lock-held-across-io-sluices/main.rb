# The centre of a canal: polls the controllers of the sluices for the level of the water, and says the levels to the panels of the keepers.
require 'monitor'
require 'socket'

HELD = @{held} == 1

class Canal
  def initialize
    @@{lock} = Monitor.new
    @levels = Array.new(@{sluices}) { [0] * @{history} }
    @radio = UDPSocket.new
    @radio.connect('127.0.0.1', @{plc})
    @transaction = 0
  end

  def ask(unit)
    @transaction = (@transaction + 1) & 0xffff
    @radio.send([@transaction, 0, 6, unit, 40].pack('nnnCn'), 0)
    while @radio.wait_readable(2)
      transaction, _, _, from, _, level = @radio.recv(64).unpack('nnnCnn')
      return level if transaction == @transaction && from == unit
    end
    nil
  end

  def enter(unit, level)
    @levels[unit].push(level).shift if level
  end

  def @{fn}
    if HELD
      @@{lock}.synchronize { @levels.each_index { |unit| enter(unit, ask(unit)) } }
    else
      found = @levels.each_index.map { |unit| ask(unit) }
      @@{lock}.synchronize { found.each_with_index { |level, unit| enter(unit, level) } }
    end
  end

  def @{look}(unit)
    @@{lock}.synchronize do
      known = @levels[unit]
      format('%d now %d least %d most %d', unit, known.last, known.min, known.max)
    end
  end
end

canal = Canal.new
Thread.new do
  Thread.current.name = 'poller'
  loop do
    canal.@{fn}
    sleep @{every} / 1000.0
  end
end

door = TCPServer.new('127.0.0.1', @{port})
loop do
  Thread.new(door.accept) do |panel|
    panel.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (line = panel.gets)
      panel.write("#{canal.@{look}(line.split.last.to_i % @{sluices})}\n")
    end
  rescue SystemCallError
    nil
  ensure
    panel.close
  end
end
