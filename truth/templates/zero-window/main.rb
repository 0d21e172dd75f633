require "socket"
require "logger"

require "json"

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

def wait_until(due)
  rest = due - now
  sleep(rest) if rest > 0
end

def report(units, busy, culprit)
  File.write("@{report}", JSON.generate("units" => units, "seconds" => busy, "culprit" => culprit))
end

# Sends events to the archive; what is not from the wire goes to the log.
class Archive
  attr_reader :blocked

  def initialize(host, port)
    @stream = TCPSocket.new(host, port)
    @stream.setsockopt(Socket::SOL_SOCKET, Socket::SO_SNDBUF, 65536)
    @stream.sync = true
    @blocked = 0.0
  end

  def @{fn}(events)
    start = now
    @stream.write(*events)
    @blocked += now - start
  end
end

archive = Archive.new("127.0.0.1", @{port})
line = "event of the house, " * 51 + "\n"
units = 0
busy = 0.0
began = now
while now - began < @{seconds}
  start = now
  archive.@{fn}(Array.new([@{used} / 8, 1].max) { line * [8, @{used}].min })
  units += 1
  busy += now - start
  wait_until(began + units / @{rate}.0)
end
report(units, busy, archive.blocked)
