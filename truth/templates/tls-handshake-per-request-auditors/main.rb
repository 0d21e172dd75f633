# Forwards the audit trail of a dispensary to the collector of the hospital.
require "digest"
require "json"
require "openssl"
require "socket"

def clock
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

# The entries are chained: each has the digest of those before it.
class Chain
  def initialize
    @last, @number = "", 0
  end

  def entry
    @number += 1
    text = "<110>1 drawer=#{@number % 40} nurse=#{@number % 17} drug=#{@number * 7919 % 100_000} amount=#{1 + @number % 4}"
    @{seal}.times { @last = Digest::SHA256.digest(@last + text) }
    "#{text} host=disp#{@{host_id}} seal=#{@last.unpack1('H16')}\n"
  end
end

class Forwarder
  attr_reader :spent

  def initialize
    @spent = 0.0
    @context = OpenSSL::SSL::SSLContext.new
    store = OpenSSL::X509::Store.new
    store.add_file("@{work}/trail.pem")
    @context.cert_store = store
    @context.verify_mode = OpenSSL::SSL::VERIFY_PEER
  end

  def @{fn}
    start = clock
    socket = TCPSocket.new("127.0.0.1", @{port})
    socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    line = OpenSSL::SSL::SSLSocket.new(socket, @context)
    line.hostname = "localhost"
    line.sync_close = true
    line.connect
    line
  ensure
    @spent += clock - start
  end

  def send(frame, entries)
    @line ||= @{fn}
    @line.write("#{frame.bytesize} #{frame}")
    answer = @line.gets
    raise "collector says #{answer}" unless answer == "OK #{entries}\n"
    return if "@{keep}" == "yes"

    @line.close
    @line = nil
  end
end

forwarder, chain = Forwarder.new, Chain.new
units, busy, began = 0, 0.0, clock
while clock - began < @{seconds}
  start = clock
  frame = String.new
  @{entries}.times { frame << chain.entry }
  forwarder.send(frame, @{entries})
  units += 1
  busy += clock - start
  sleep([began + units / @{rate}.to_f - clock, 0].max)
end
File.write("@{report}", JSON.generate("units" => units, "seconds" => busy, "culprit" => forwarder.spent))
