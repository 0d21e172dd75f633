# Sets a town's clocks by radio: the nearer mast is asked first, and the farther one if that does not come.
require 'json'
require 'socket'

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Mast
  attr_reader :lost

  def initialize(port)
    @port = port
    @line = nil
    @lost = 0.0
  end

  def @{fn}(tries)
    start = now
    tries.times do
      break if @line

      @line = TCPSocket.new('127.0.0.1', @port)
      @line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    rescue Errno::ECONNREFUSED
      next
    end
    @lost += now - start
    @line
  end
end

near = Mast.new(@{first})
far = Mast.new(@{second})
units = 0
good = 0
busy = 0.0
began = now
while now - began < @{seconds}
  start = now
  line = near.@{fn}(@{most}) || far.@{fn}(@{most})
  line.write("#{Array.new(@{sirens}) { |clock| "clock-#{(units + clock) % 90}:12:00" }.join(',')}\n")
  good += 1 if line.gets == "sent\n"
  units += 1
  busy += now - start
  rest = start + 1.0 / @{per_s} - now
  sleep rest if rest.positive?
end
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: near.lost, good: good))
