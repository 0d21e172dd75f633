require "json"

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

# A file that begins anew when it is full.
class Rolling
  def initialize(path)
    @path = path
    roll
  end

  def put(chunk)
    roll if @size > @{keep_mb} << 20
    @size += @file.syswrite(chunk)
  end

  private

  def roll
    if @file
      @file.close
      File.rename(@path, "#{@path}.1")
    end
    @file = File.open(@path, "wb")
    @size = 0
  end
end

class Authority
  def initialize(sink, every)
    @sink, @every, @seen = sink, every, 0
  end

  def put(chunk)
    @seen += 1
    @sink.put(chunk) if @every > 0 && @seen % @every == 0
  end
end

class Recorder
  attr_reader :spent

  def initialize(*sinks)
    @sinks, @spent = sinks, 0.0
  end

  def @{fn}(chunk)
    @sinks.each_with_index do |sink, i|
      began = clock
      sink.put(chunk)
      @spent += clock - began if i > 0
    end
  end
end

# The cod end of the net, its sensors and the sonar above.
class Trawl
  def initialize
    @frame = "\0".b * (@{chunk_kb} << 10)
    @depth = 80.0
  end

  def haul(number)
    (@{pings} / 3 + 1).times do |i|
      @depth += Math.sin(number * i) * 0.7
      @frame[(number * 31 + i * 257) % (@frame.bytesize - 16), 8] = [@depth].pack("E")
    end
    @frame
  end
end

journal = Rolling.new("@{work}/@{first}")
second = Rolling.new("@{work}/@{second}")
recorder = Recorder.new(journal, @{both} == 1 ? second : Authority.new(second, @{marked}))
trawl = Trawl.new
began = clock
units = 0
busy = 0.0
while clock - began < @{seconds}
  start = clock
  @{chunks}.times { |i| recorder.@{fn}(trawl.haul(units * @{chunks} + i)) }
  units += 1
  busy += clock - start
  rest = began + units / @{wanted} - clock
  sleep(rest) if rest > 0
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: recorder.spent))
