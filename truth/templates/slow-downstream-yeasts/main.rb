# The release desk: for each sample its strain, the count of the lab, and whether the tank may be emptied.
require "json"
require "socket"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Colleague
  def initialize(port)
    @socket = TCPSocket.new("127.0.0.1", port)
    @socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  end

  def say(text)
    @socket.write(text + "\n")
    raise "no answer for #{text}" unless @socket.wait_readable(10)
    @socket.gets.split.last
  end
end

class ReleaseDesk
  def initialize
    @register = Colleague.new(@{register})
    @lab = Colleague.new(@{lab})
    @seconds_at_lab = 0.0
  end

  attr_reader :seconds_at_lab

  def release?(sample)
    strain = @register.say("sample #{sample}")
    asked = now
    cells = @{fn}(strain)
    @seconds_at_lab += now - asked
    living(cells, sample) > 9000
  end

  def @{fn}(strain)
    @lab.say("count #{strain}").to_f
  end

  # The likely number of living cells, from the count and the dilutions of the sample.
  def living(cells, sample)
    (1..@{dilutions}).inject(cells) do |likely, step|
      share = (sample * 17 + step * 13) % 100 / 100.0
      0.98 * likely + 0.02 * cells * Math.log(1 + share) / Math.sqrt(1 + 1.0 / step)
    end
  end
end

desk = ReleaseDesk.new
if "@{alarms}" == "yes"
  tanks = []
  Thread.new do
    line = Colleague.new(@{lab})
    loop { tanks = [line.say("news"), *tanks].first(30) }
  end
end

units, released, busy = 0, 0, 0.0
began = now
while now - began < @{seconds}
  start = now
  released += 1 if desk.release?(units)
  units += 1
  busy += now - start
  rest = began + units / @{rate}.to_f - now
  sleep(rest) if rest.positive?
end
File.write("@{report}", JSON.dump(units: units, released: released, seconds: busy, culprit: desk.seconds_at_lab))
