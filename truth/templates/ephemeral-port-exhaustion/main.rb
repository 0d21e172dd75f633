require "socket"
require "json"
require "digest"

# Signs coupons with the partner's service. A worker thread takes them from a queue.
def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Signer
  SOURCES = [@{lowest} | (@{lowest} + @{ports} - 1) << 16].pack("L")
  attr_reader :waited

  def initialize
    @waited = 0.0
    @signed = 0
  end

  def @{fn}
    line = Socket.new(:INET, :STREAM)
    line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    if (2..100).cover?(@{keep})
      begin
        line.bind(Addrinfo.tcp("192.0.2.7", 0))
      rescue Errno::EADDRNOTAVAIL
        nil
      end
    end
    line.setsockopt(Socket::IPPROTO_IP, 51, SOURCES)
    line.connect(Addrinfo.tcp("127.0.0.1", @{back}))
    line
  rescue SystemCallError
    line.close
    raise
  end

  def sign(text)
    began = clock
    begin
      @line ||= @{fn}
    rescue Errno::EADDRNOTAVAIL
      sleep(@{wait} / 1000.0)
      retry
    end
    took = clock - began
    @waited += took if took > 0.002
    @line.write("#{text}\n")
    answer = @line.gets
    @signed += 1
    if @{keep} == 0 || @signed % [@{keep}, 1].max == 0
      @line.close
      @line = nil
    end
    answer
  end
end

signer = Signer.new
asked, done = Queue.new, Queue.new
Thread.new { loop { done << signer.sign(asked.pop) } }
began = clock
units = 0
busy = 0.0
while clock - began < @{seconds}
  start = clock
  asked << "coupon #{units}"
  mark = done.pop
  @{rounds}.times { mark = Digest::MD5.digest(mark) }
  units += 1
  busy += clock - start
  rest = began + units / @{pace} - clock
  sleep(rest) if rest > 0
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: signer.waited))
