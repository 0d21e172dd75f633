# Keeps a mirror of the opera house's scores: asks after one at a time, and takes those of which there is a new edition.
require "digest"
require "json"
require "net/http"

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

class Mirror
  attr_reader :asking

  def initialize(house)
    @house = house
    @editions = {}
    @catalog = {}
    @asking = 0.0
  end

  # The edition of a score, and who wrote it.
  def @{fn}(number)
    ask = Net::HTTPGenericRequest.new("@{ask}", false, "@{ask}" == "GET", "/scores/#{number}", "Accept-Encoding" => "identity")
    @house.request(ask) do |answer|
      # Read to its end, for the connection to be used again.
      answer.read_body { |_| nil } if ask.response_body_permitted?
      return [answer["ETag"], answer["X-Composer"]]
    end
  end

  def take(number)
    File.open("@{work}/score-#{number}.pdf", "wb") do |file|
      @house.request_get("/scores/#{number}", "Accept-Encoding" => "identity") do |answer|
        answer.read_body { |part| file.write(part) }
      end
    end
  end

  def check(number)
    start = now
    edition, composer = @{fn}(number)
    @asking += now - start
    take(number) if @editions[number] && @editions[number] != edition
    @editions[number] = edition
    mark = composer + edition
    (@{rounds} * 4).times { mark = Digest::SHA256.digest(mark) }
    @catalog[number] = mark
  end
end

Net::HTTP.start("127.0.0.1", @{port}) do |house|
  mirror = Mirror.new(house)
  units = 0
  busy = 0.0
  began = now
  while now - began < @{seconds}
    start = now
    mirror.check(units % @{scores})
    units += 1
    busy += now - start
    rest = began + units / @{rate}.0 - now
    sleep(rest) if rest.positive?
  end
  File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: mirror.asking))
end
