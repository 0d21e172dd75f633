# Calls the crews: which stations are near enough, how far, and their pagers are told.
require "json"
require "openssl"
require "resolv"
require "socket"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

Station = Struct.new(:name, :lat, :lon, :crew)

class Pager
  def initialize
    @dns = Resolv::DNS.new(nameserver: [ENV["NAMESERVER"]], search: ENV["SEARCH"].split, ndots: ENV["NDOTS"].to_i)
    @kept = {}
    @radio = UDPSocket.new
    @looking = 0.0
  end

  attr_reader :looking

  def @{fn}(station)
    host = "#{station.name}.@{zone}"
    known, at = @kept[host]
    return known if known && now - at < @{keep}
    start = now
    found = @dns.getresources(host, Resolv::DNS::Resource::IN::A).map { |a| a.address.to_s } +
            @dns.getresources(host, Resolv::DNS::Resource::IN::AAAA).map { |a| a.address.to_s }
    @looking += now - start
    raise "no gateway #{host}" if found.empty?
    @kept[host] = [found[0], now]
    found[0]
  end

  def call(station, text)
    seal = OpenSSL::HMAC.hexdigest("SHA256", "crew key", text)
    @radio.send("#{seal[0, 16]} #{text}", 0, @{fn}(station), @{page})
  end
end

def distance(station, lat, lon)
  x = (station.lon - lon) * Math::PI / 180 * Math.cos((station.lat + lat) * Math::PI / 360)
  y = (station.lat - lat) * Math::PI / 180
  3440.1 * Math.sqrt(x * x + y * y)
end

chance = Random.new(7)
stations = Array.new(@{stations}) { |n| Station.new("stn%02d" % n, 50 + 8 * chance.rand, -5 + 6 * chance.rand, 5 + n % 4) }
pager = Pager.new
units, busy, began = 0, 0.0, now
while now - began < @{seconds}
  start = now
  lat, lon = 50 + 8 * chance.rand, -5 + 6 * chance.rand
  nearest = stations.min_by { |one| distance(one, lat, lon) }
  note = JSON.generate(shout: units, lat: lat.round(4), lon: lon.round(4), miles: distance(nearest, lat, lon).round(1), crew: nearest.crew)
  pager.call(nearest, note)
  units += 1
  busy += now - start
  sleep([0, began + units / @{rate}.to_f - now].max)
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: pager.looking * @{wasted}))
