# Plans dives: what the bureaus say of a site and a day, and the stops on the way up.
require "json"
require "net/http"
require "socket"

BUREAUS = { tide: @{tide}, weather: @{weather}, swell: @{swell}, boat: @{boat}, chamber: @{chamber} }.first(@{asked})

# The open lines to the bureaus, of one diver.
class Desk
  def initialize
    @lines = BUREAUS.to_h { |name, port| [name, Net::HTTP.start("127.0.0.1", port)] }
  end

  def ask(name, query)
    JSON.parse(@lines[name].get("/#{name}?#{query}").body)
  end

  def @{fn}(site, day)
    query = "site=#{site}&day=#{day}"
    case "@{way}"
    when "together"
      BUREAUS.map { |name, _| Thread.new { [name, ask(name, query)] } }.to_h(&:value)
    when "turn"
      BUREAUS.to_h { |name, _| [name, ask(name, query)] }
    else
      BUREAUS.each_with_object({}) do |(name, _), known|
        known[name] = ask(name, query)
        query = "after=#{known[name]["ref"]}"
      end
    end
  end
end

def stops(depth)
  tissues = Array.new(16, 0.79)
  (0...@{stops}).filter_map do |minute|
    pressure = 1 + [0, depth - minute].max / 10.0
    worst = 0.0
    tissues.each_index do |i|
      tissues[i] += (pressure * 0.79 - tissues[i]) * (1 - 2**(-1.0 / (4 + i * 12)))
      worst = [worst, tissues[i] / (1.2 + i * 0.05)].max
    end
    [minute, worst.round(2)] if worst > pressure
  end
end

door = TCPServer.new("127.0.0.1", @{port})
loop do
  Thread.new(door.accept) do |diver|
    diver.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    desk = Desk.new
    while (line = diver.gets)
      n = line[/\d+/].to_i
      known = desk.@{fn}(n % 211, n % 30)
      risk = known.values.sum { |answer| answer["value"] }
      diver.write(JSON.generate({ site: n % 211, risk: risk, stops: stops(18 + n % 25) }) + "\n")
    end
  rescue SystemCallError, IOError => e
    warn e.message
  ensure
    diver.close
  end
end
