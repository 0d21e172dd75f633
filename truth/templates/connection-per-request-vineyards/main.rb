# Gateway of the weather stations in the vineyards: their values go to the broker by MQTT.
require "json"
require "socket"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

# What is published goes by this to the broker, which has let us in.
class Session
  Refused = Class.new(StandardError)

  def initialize(client)
    @socket = TCPSocket.new("127.0.0.1", @{broker})
    @socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    @next = 0
    send(0x10, text("MQTT") + [4, 0xC2, 60].pack("CCn") + [client, "cooperative", "riesling"].map { |word| text(word) }.join)
    code = @socket.read(4)&.getbyte(3)
    raise Refused, code.inspect unless code == 0
  end

  def publish(topic, payload)
    @next = @next % 65_535 + 1
    send(0x32, text(topic) + [@next].pack("n") + payload)
    raise Refused, topic unless @socket.read(4)&.unpack1("@2n") == @next
  end

  def close
    send(0xE0, "")
    @socket.close
  end

  private

  def text(word) = [word.bytesize].pack("n") + word

  def send(kind, body)
    length, digits = body.bytesize, []
    loop do
      length, digit = length.divmod(128)
      digits << (length > 0 ? digit | 128 : digit)
      break if length == 0
    end
    @socket.write([kind, *digits].pack("C*") + body)
  end
end

class Station
  attr_reader :units, :busy, :joining

  def initialize(number)
    @number = number
    @units = 0
    @busy = @joining = 0.0
  end

  def run(begun)
    while now - begun < @{seconds}
      start = now
      round(@units)
      @units += 1
      @busy += now - start
      sleep [begun + @units / @{rate} - now, 0].max
    end
  end

  private

  def joined
    start = now
    yield
  ensure
    @joining += now - start
  end

  def @{fn}(topic, payload)
    session = @kept || joined { Session.new("station-#{@number}") }
    session.publish(topic, payload)
    if "@{session}" == "kept"
      @kept = session
    else
      joined { session.close }
    end
  end

  def round(round)
    values = Array.new(@{sensors}) { |sensor| (12 + 9 * Math.sin(round / 40.0 + @number) + sensor * sensor % 7).round(2) }
    if "@{content}" == "values"
      values.each_with_index { |value, sensor| @{fn}("@{topic}/#{@number}/sensor/#{sensor}", JSON.generate(round: round, value: value)) }
    else
      low, high = values.minmax
      @{fn}("@{topic}/#{@number}/summary", JSON.generate(round: round, low: low, high: high))
    end
  end
end

begun = now
stations = Array.new(@{stations}) { |number| Station.new(number) }
stations.map { |station| Thread.new { station.run(begun) } }.each(&:join)
File.write("@{report}", JSON.generate(units: stations.sum(&:units), seconds: stations.sum(&:busy), culprit: stations.sum(&:joining)))
