# Lets vessels into the harbour's radio, each with a pass, while there is room.
require "digest/sha2"
require "socket"

CAPACITY = 60_000

module Links
  ESTABLISHED = "01"

  def self.@{fn}
    return summary if "@{from}" == "summary"
    File.readlines("/proc/net/tcp").drop(1).count do |line|
      fields = line.split
      fields[1].split(":")[1].to_i(16).positive? && fields[3] == ESTABLISHED
    end
  end

  def self.summary
    File.read("/proc/net/sockstat")[/^TCP: inuse (\d+)/, 1].to_i
  end
end

class Desk
  def initialize
    @passes = {}
    @lock = Mutex.new
  end

  def answer(ask)
    verb, vessel = ask.split
    return "error what" unless verb == "@{verb}" && vessel
    return "wait" if Links.@{fn} >= CAPACITY

    pass = vessel
    @{rounds}.times { pass = Digest::SHA256.digest(pass) }
    @lock.synchronize { @passes[vessel] = pass }
    "pass #{pass.unpack1("H*")[0, 16]}"
  end
end

desk = Desk.new
server = TCPServer.new("127.0.0.1", @{port})
loop do
  Thread.new(server.accept) do |vessel|
    vessel.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (ask = vessel.gets)
      vessel.write(desk.answer(ask) + "\n")
    end
    vessel.close
  end
end
