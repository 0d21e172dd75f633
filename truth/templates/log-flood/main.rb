require "json"
require "logger"

Event = Struct.new(:id, :kind, :body)

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Feed
  attr_reader :logged

  def initialize(path, level)
    @path = path
    @log = Logger.new(path, level: level)
    @log.formatter = proc { |severity, time, _, text| "#{time.to_f} #{severity} -- #{text}\n" }
    @logged = 0.0
    @bytes = 0
  end

  # The disk is small: what is old goes.
  def trim
    return if @bytes < 40 << 20
    File.truncate(@path, 0)
    @bytes = 0
  end

  def @{fn}(events)
    sums = events.map { |event| @{scale}.times.sum { |i| event.body.getbyte(i) } }
    start = now
    if @log.debug?
      events.each { |event| @log.debug("event #{event.id} #{event.kind}: #{event.body}") }
      @bytes += events.size * @{width}
      trim
    end
    @log.info("GET /events/#{events.first.id} 200 #{events.size} 0.00#{sums.first % 10}") if @{access} == 1
    @logged += now - start
  end
end

feed = Feed.new("@{work}/@{log}", Logger::@{level})
events = Array.new(@{events}) { |i| Event.new(i, "update", "payload #{i} ".ljust(@{width}, "field=value, ")) }
rate = [@{megabytes} * 1e6 / (@{width} * @{events}), 60].min
units, busy, began = 0, 0.0, now
while now - began < @{seconds}
  start = now
  feed.@{fn}(events)
  units += 1
  busy += now - start
  rest = began + units / rate - now
  sleep(rest) if rest.positive?
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: feed.logged))
