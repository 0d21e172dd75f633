# The board of a harbour: when a vessel may come in, by tide, wind, lock, berth and pilot.
require 'socket'

# One of the harbour's desks, at the other end of a line that stays open.
class Desk
  attr_reader :name

  def initialize(name, port)
    @name = name
    @line = TCPSocket.new('127.0.0.1', port)
    @line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  end

  def ask(vessel, hint = 0)
    @line.write("#{vessel} #{hint}\n")
    level, trend = @line.gets.split
    [level.to_i, trend.to_f]
  end

  def close = @line.close
end

PORTS = { tide: @{tide}, wind: @{wind}, lock: @{lock}, berth: @{berth}, pilot: @{pilot} }.freeze

class Board
  def initialize
    @desks = PORTS.map { |name, port| Desk.new(name, port) }
    @quarters = (0...96).map { |quarter| Math.sin(quarter * Math::PI / 24) }
  end

  def @{fn}(vessel)
    case '@{order}'
    when 'once'
      @desks.map { |desk| Thread.new { [desk.name, desk.ask(vessel)] } }.map(&:value).to_h
    when 'relay'
      before = 0
      @desks.to_h do |desk|
        said = desk.ask(vessel, before)
        before = said.first
        [desk.name, said]
      end
    else
      @desks.to_h { |desk| [desk.name, desk.ask(vessel)] }
    end
  end

  # How good each quarter of an hour is, and which is the best.
  def window(said)
    best = [0, -1e9]
    @{detail}.times do |pass|
      @quarters.each_with_index do |height, quarter|
        worth = said.sum { |_, (level, trend)| height * trend - ((level / 15 - quarter - pass) % 96) / 200.0 }
        best = [quarter, worth] if worth > best[1]
      end
    end
    best
  end

  def row(vessel)
    quarter, worth = window(@{fn}(vessel))
    format("vessel %d: %02d:%02d, %.2f\n", vessel, quarter / 4, quarter % 4 * 15, worth)
  end

  def close = @desks.each(&:close)
end

def serve(skipper)
  skipper.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  board = Board.new
  while (line = skipper.gets)
    verb, vessel = line.split
    skipper.write(verb == 'board' ? board.row(vessel.to_i) : "unknown: #{verb}\n")
  end
rescue SystemCallError, IOError => e
  warn "skipper: #{e.message}"
ensure
  board&.close
  skipper.close
end

door = TCPServer.new('127.0.0.1', @{port})
door.listen(64)
loop { Thread.new(door.accept) { |skipper| serve(skipper) } }
