require "net/http"
require "json"
require "digest"

# Looks up the coordinates of each address of the list, with one connection that is kept.
def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Locator
  def initialize
    @http = Net::HTTP.new("127.0.0.1", @{back})
    @http.keep_alive_timeout = 60
    @http.read_timeout = 60
    @http.start
    @spent = 0.0
  end
  attr_reader :spent

  def @{fn}(address)
    began = clock
    answer = @http.get("/locate?street=#{address}")
    @spent += clock - began
    JSON.parse(answer.body)
  end
end

if @{hold} == 1
  Thread.new do
    news = Net::HTTP.new("127.0.0.1", @{back})
    news.start
    loop { news.get("/watch") }
  end
end

locator = Locator.new
began = clock
units = 0
busy = 0.0
book = {}
while clock - began < @{seconds}
  start = clock
  found = locator.@{fn}("Street+#{units}")
  mark = found["text"]
  @{rounds}.times { mark = Digest::MD5.digest(mark) }
  book[units % 500] = [found["id"], mark]
  busy += clock - start
  units += 1
  rest = began + units / @{rate} - clock
  sleep(rest) if rest > 0
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: locator.spent))
