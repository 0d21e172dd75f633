# Mixes the dyes that the vats order: recipes by one mixer, over one balance.
require "socket"

Order = Struct.new(:number, :grams, :done)

class Keeper
  def initialize
    @balance = TCPSocket.new("127.0.0.1", @{scale})
    @balance.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    @wanted = Queue.new
    @last = @{fn}
    Thread.new { keep }
    Thread.new { keep_ahead } if @{ahead} > 0
  end

  def tare
    answer = Queue.new
    @wanted << answer
    answer.pop
  end

  private

  def @{fn}
    @balance.write("tare\n")
    @balance.gets.split[1].to_f
  end

  def keep
    while (answer = @wanted.pop)
      answer << (@{ahead} > 0 ? @last : @{fn})
    end
  end

  def keep_ahead
    loop do
      sleep(@{ahead})
      @last = @{fn}
    end
  end
end

class Mixer
  def initialize(keeper)
    @keeper = keeper
    @orders = Queue.new
    Thread.new { mix }
  end

  def order(number, grams)
    order = Order.new(number, grams, Queue.new)
    @orders << order
    order.done.pop
  end

  private

  def mix
    while (order = @orders.pop)
      order.done << format("mixed %d %.3f\n", order.number, recipe(order, @keeper.tare))
    end
  end

  # How much of each dye makes the shade of the order.
  def recipe(order, tare)
    (1..@{dyes}).sum(tare) { |dye| order.grams * Math.sin(order.number * 0.7 + dye).abs / dye }
  end
end

Thread.abort_on_exception = true
mixer = Mixer.new(Keeper.new)
door = TCPServer.new("127.0.0.1", @{port})
loop do
  Thread.new(door.accept) do |client|
    client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (line = client.gets)
      _, number, grams = line.split
      client.write(mixer.order(number.to_i, grams.to_i))
    end
    client.close
  end
end
