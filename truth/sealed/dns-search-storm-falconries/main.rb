require "digest"
require "json"
require "openssl"
require "resolv"
require "socket"

# News of parcels go to the partners' hooks; where a partner is at the moment says the name server.
class Directory
  Found = Struct.new(:v4, :v6, :till)
  attr_reader :seconds

  def initialize
    @names = Resolv::DNS.new(nameserver: [ENV.fetch("RESOLVER")], search: ENV.fetch("SEARCH_DOMAINS").split, ndots: 5)
    @kept = {}
    @seconds = 0.0
  end

  def @{fn}(name)
    v4 = @names.getresources(name, Resolv::DNS::Resource::IN::A).map { |found| found.address.to_s }
    v6 = @names.getresources(name, Resolv::DNS::Resource::IN::AAAA).map { |found| found.address.to_s }
    Found.new(v4, v6, clock + @{ttl})
  end

  def of(name)
    kept = @kept[name]
    return kept if kept && kept.till > clock
    start = clock
    found = @{fn}(name)
    @seconds += clock - start
    @kept[name] = found
  end
end

class Hook
  def initialize(key)
    @key = key
    @lines = {}
  end

  def send_to(address, news)
    text = JSON.generate(news)
    sign = OpenSSL::HMAC.hexdigest("SHA256", @key, text)
    line = (@lines[address] ||= TCPSocket.new(address, @{ring}))
    line.write("#{sign} #{text}\n")
    line.gets.split.last.to_i
  end
end

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

STATES = %w[announced collected sorted loaded delivered].freeze

def parcel(number)
  code = Digest::SHA1.hexdigest("parcel #{number / 5}")[0, 12].upcase
  { code: code, state: STATES[number % 5], grams: 200 + number * 53 % 9000, depot: number % 31 }
end

directory = Directory.new
hook = Hook.new("k-#{@{ring}}")
units, busy, marks = 0, 0.0, 0
began = clock
while clock - began < @{seconds}
  start = clock
  news = parcel(units)
  there = directory.of("hook#{units % @{partners}}.#{ENV.fetch('PARTNER_DOMAIN')}")
  marks += hook.send_to(there.v4.first, news)
  units += 1
  busy += clock - start
  rest = began + units / @{rate}.0 - clock
  sleep(rest) if rest > 0
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: directory.seconds * @{lost}))
