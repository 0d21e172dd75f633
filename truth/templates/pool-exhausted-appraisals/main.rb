# The desk of an auction house: an estimate for each lot that an expert sends in, unless it is in the register of lost art.
require 'socket'

Lot = Struct.new(:number, :mark, :answer)

# Works through the desk's queue, with a line to the register of its own.
class Appraiser
  def initialize(lots)
    @lots = lots
    @line = TCPSocket.new('127.0.0.1', @{register})
    @line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  end

  def @{fn}(lot)
    @line.write("SEEN #{lot.number} #{lot.mark}\n")
    word, score = @line.gets.split
    [word == 'LISTED', score.to_i]
  end

  def estimate(lot)
    listed, score = @{fn}(lot)
    return "lot #{lot.number}: withdrawn\n" if listed

    low = 80 + (lot.mark + score) % 4000
    "lot #{lot.number}: #{low} to #{low * 3 / 2}\n"
  rescue SystemCallError, NoMethodError => e
    warn "lot #{lot.number}: #{e.message}"
    "lot #{lot.number}: later\n"
  end

  def work
    while (lot = @lots.pop)
      lot.answer << estimate(lot)
    end
  end
end

# Takes what the experts send in.
class Desk
  def initialize(room, workers)
    @lots = SizedQueue.new(room)
    workers.times do |number|
      appraiser = Appraiser.new(@lots)
      Thread.new { appraiser.work }.name = "appraiser-#{number}"
    end
  end

  # Brush, canvas, frame: what a photograph says of the work.
  def mark(number)
    sum = 0.0
    (@{features} * 10).times { |feature| sum += Math.sin(number * feature) * Math.cos(feature) }
    (sum.abs * 1000).to_i % 100_000
  end

  def serve(expert)
    expert.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    answer = Queue.new
    while (line = expert.gets)
      number = line.delete_prefix('lot ').to_i
      @lots << Lot.new(number, mark(number), answer)
      expert.write(answer.pop)
    end
  rescue SystemCallError => e
    warn "expert: #{e.message}"
  ensure
    expert.close
  end
end

desk = Desk.new(@{room}, @{workers})
door = TCPServer.new('127.0.0.1', @{port})
door.listen(64)
loop { Thread.new(door.accept) { |expert| desk.serve(expert) } }
