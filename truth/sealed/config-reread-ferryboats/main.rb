# Tells what a crossing costs: fare NUMBER, where the number is that of the booking.
require "socket"

class Settings
  def initialize(path)
    @path, @read_at, @values, @hold = path, nil, {}, Mutex.new
  end

  def [](key)
    @hold.synchronize do
      now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      if @read_at.nil? || now - @read_at >= @{valid_s}
        values = {}
        @{fn}(@path, values)
        @values, @read_at = values, now
      end
      @values.fetch(key)
    end
  end

  private

  def @{fn}(path, values)
    File.foreach(path, chomp: true) do |line|
      next if line.empty? || line.start_with?("#")

      if line.start_with?("include ")
        @{fn}(File.join(File.dirname(path), line.delete_prefix("include ")), values)
      else
        key, value = line.split(" = ", 2)
        values[key] = value
      end
    end
  end
end

class Fares
  def initialize(settings)
    @settings = settings
  end

  def zones(number)
    from, to = number % @{landings} + 1, number * 13 % @{landings} + 1
    [@settings["pier.#{from}"], @settings["pier.#{to}"]].map(&:to_i)
  end

  def passenger(kind, here, there)
    cents = @settings["zone.#{here}"].to_i + (here == there ? 0 : @settings["zone.#{there}"].to_i)
    case kind
    when 0 then cents
    when 1 then cents * @settings["child"].to_i / 100
    else cents + @settings["bicycle"].to_i
    end
  end

  def answer(number)
    here, there = zones(number)
    sum = Array.new(@{party}) { |i| passenger((number + i) % 3, here, there) }.sum
    step = @settings["rounding"].to_i
    format("booking %d: %.2f", number, (sum + step - 1) / step * step / 100.0)
  end
end

fares = Fares.new(Settings.new("@{work}/@{etc}/@{settings}"))
door = TCPServer.new("127.0.0.1", @{port})
loop do
  Thread.new(door.accept) do |line|
    line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (asked = line.gets)
      line.write("#{fares.answer(asked.split[1].to_i)}\n")
    end
    line.close
  end
end
