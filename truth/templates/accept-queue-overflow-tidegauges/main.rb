# The station of the tide gauges: takes their levels, and answers with the deviation from what was predicted.
require 'socket'

class Station
  def initialize
    @levels = Hash.new { |all, gauge| all[gauge] = [] }
  end

  def @{fn}(port)
    door = Socket.new(:INET, :STREAM)
    door.setsockopt(:SOCKET, :REUSEADDR, true)
    door.bind(Addrinfo.tcp('127.0.0.1', port))
    door.listen(@{queue})
    door
  end

  # What the tide would be without wind, by the harmonics of the place.
  def predicted(at)
    sum = 0.0
    1000.times do |step|
      @{terms}.times { |term| sum += Math.cos((at + step) / (12.42 + term) + term) / (term + 1) }
    end
    300 + sum / 1000
  end

  def take(line)
    gauge, level = line.split
    series = @levels[gauge]
    series << level.to_f
    series.shift if series.size > 200
    format("%s %.2f\n", gauge, level.to_f - predicted(series.size))
  end

  def run(door)
    loop do
      call, = door.accept
      begin
        line = call.gets
        call.write(take(line)) if line && line.split.size == 2
      rescue SystemCallError => e
        warn e
      ensure
        call.close
      end
    end
  end
end

station = Station.new
station.run(station.@{fn}(@{port}))
