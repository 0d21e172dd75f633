require "socket"
require "json"
require "digest"

# The till: after each sale the display shows the day's takings.
def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

TAKINGS = <<~LUA
  local sum = 0
  for i = 0, redis.call('LLEN', KEYS[1]) - 1, 50 do
    for _, one in ipairs(redis.call('LRANGE', KEYS[1], i, i + 49)) do sum = sum + tonumber(one) end
    if i >= tonumber(ARGV[1]) then break end
  end
  return sum
LUA

class Till
  attr_reader :spent

  def initialize(port)
    @line = TCPSocket.new("127.0.0.1", port)
    @line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    @spent = 0.0
  end

  def call(*words)
    began = clock
    @line.write("*#{words.size}\r\n" + words.map { |w| "$#{w.to_s.bytesize}\r\n#{w}\r\n" }.join)
    answer = @line.gets("\r\n")
    raise answer if answer.start_with?("-")
    answer[1..].to_i
  ensure
    @spent += clock - began
  end

  def @{fn}
    case @{whole}
    when 1 then call("EVAL", TAKINGS, 1, "takings", 100_000_000)
    when 2 then call("EVAL", TAKINGS, 1, "takings", 100)
    else call("INCRBY", "takings:sum", 5)
    end
  end
end

till = Till.new(@{store})
began = clock
units = 0
busy = 0.0
while clock - began < @{seconds}
  start = clock
  display = "sum #{till.@{fn}}"
  @{rounds}.times { display = Digest::MD5.digest(display) }
  units += 1
  busy += clock - start
  rest = began + units / @{pace} - clock
  sleep(rest) if rest > 0
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: till.spent))
