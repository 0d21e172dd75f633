# The steward of a streamed concert: a listener who asks gets a ticket and the programme, or is told to come later.
require "json"
require "openssl"

ROOM = @{room}
Listener = Struct.new(:number, :seat, :lang)

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

module Host
  def self.@{fn}
    if "@{count}" == "totals"
      File.read("/proc/net/sockstat")[/^TCP: inuse (\d+)/, 1].to_i
    else
      File.read("/proc/net/tcp").lines.drop(1).count { |line| line.split[3] == "01" }
    end
  end
end

class Steward
  attr_reader :counting, :tickets

  def initialize
    @tickets = {}
    @refused = 0
    @counting = 0.0
  end

  def programme(who)
    Array.new(@{verses}) { |verse| "#{verse + 1}. [#{who.lang}] Psalm #{(who.number * 7 + verse) % 150 + 1}, verse #{verse % 12 + 1}" }.join("\n")
  end

  def admit(who)
    if (who.number % @{good_for}).zero?
      start = now
      @there = Host.@{fn}
      @counting += now - start
    end
    return @refused += 1 if @there >= ROOM

    ticket = OpenSSL::HMAC.hexdigest("SHA256", "@{app}", "#{who.number} #{who.seat} #{programme(who)}")
    @tickets[ticket[0, 16]] = who.number
  end
end

steward, units, busy, began = Steward.new, 0, 0.0, now
while now - began < @{seconds}
  who = Listener.new(units, "#{('A'.ord + units % 20).chr}#{units % 31}", %w[en de la][units % 3])
  start = now
  steward.admit(who)
  busy += now - start
  units += 1
  rest = began + units / @{rate}.to_f - now
  sleep(rest) if rest.positive?
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: steward.counting))
