# Readings of meters for their owners: years of quarter hours as a file, the last ones as they came in.
require "socket"
require "zlib"

class Meter
  attr_reader :number, :closed, :packed

  def initialize(number)
    @number = number
    chance = Random.new(number)
    at, count = 1_700_000_000, chance.rand(90_000)
    @readings = Array.new(@{rows}) do
      at += 900
      count += chance.rand(1..900)
      [at, count, chance.rand(2200..2400)]
    end
    @closed = @readings.map { |reading| row(reading) }.join
    @packed = pack_once if @{kept} == 1
  end

  def row(reading)
    at, count, volts = reading
    format("%d;meter %06d;%12.3f kWh;%6.1f V;%s\n", at, @number, count / 1000.0, volts / 10.0, (count * 7919 % 1_000_003).to_s(36))
  end

  def pack_once
    Zlib.gzip(@closed, level: 9)
  end

  # The peaks of the day, and what comes after them.
  def recent
    peak = 0
    (@{rounds} * 4).times do |round|
      before = 0
      @readings.each_with_index do |(_, count, _), i|
        used = count - before
        peak = i if used % (round + 3) > peak % 11
        before = count
      end
    end
    "meter #{@number}, peak #{peak}\n" + @readings.last(@{fresh}).map { |reading| row(reading) }.join
  end
end

class Portal
  def initialize
    @meters = Array.new(@{accounts}) { |number| Meter.new(number) }
    @bytes = 0
  end

  def @{fn}(meter)
    Zlib.gzip(meter.recent + meter.closed, level: 9)
  end

  def joined(meter)
    Zlib.gzip(meter.recent, level: 1) + meter.packed
  end

  def body(path)
    meter = @meters[path.split("/").last.to_i % @meters.size]
    text = meter.packed ? joined(meter) : @{fn}(meter)
    @bytes += text.bytesize
    text
  end

  def archive(every)
    @meters.cycle do |meter|
      sleep(every)
      @bytes += @{fn}(meter).bytesize
    end
  end

  def serve(line)
    line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (first = line.gets)
      nil until line.gets.to_s.strip.empty?
      text = body(first.split[1])
      line.write("HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nContent-Encoding: gzip\r\nContent-Length: #{text.bytesize}\r\n\r\n".b + text)
    end
  rescue Errno::EPIPE, Errno::ECONNRESET
    nil
  ensure
    line.close
  end
end

portal = Portal.new
Thread.new { portal.archive(@{archive}) } if @{archive} > 0
Socket.tcp_server_loop("127.0.0.1", @{port}) { |line, _| Thread.new { portal.serve(line) } }
