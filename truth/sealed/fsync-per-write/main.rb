# Follows a feed through a pipe and remembers how far it came, so that a restart goes on there.
require "json"
require "digest"

class Progress
  attr_reader :spent

  def initialize(path)
    @path, @spent = path, 0.0
    @totals = Hash.new(0)
  end

  def add(message)
    digest = message["text"]
    @{rounds}.times { digest = Digest::SHA256.hexdigest(digest) }
    @totals[digest[0, 1]] += 1
    @last = message["id"]
  end

  def @{fn}
    start = clock
    File.open("#{@path}.part", "w") do |file|
      file.write(JSON.generate("last" => @last, "totals" => @totals))
      file.flush
      file.fsync
    end
    File.rename("#{@path}.part", @path)
    @spent += clock - start
  end
end

def clock
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

feed, feeder = IO.pipe
child = fork do
  feed.close
  id = 0
  due = clock
  begin
    loop do
      feeder.write(Array.new(@{rows}) { JSON.generate("id" => id += 1, "text" => "m" * @{bytes}) + "\n" }.join)
      feeder.flush
      due = [due + 1.0 / @{ticks}, clock].max
      sleep(due - clock) if due > clock
    end
  rescue Errno::EPIPE, Interrupt
    exit!(0)
  end
end
feeder.close

progress = Progress.new("@{work}/@{state}")
began, busy, units = clock, 0.0, 0
while clock - began < @{seconds} && (line = feed.gets)
  start = clock
  progress.add(JSON.parse(line))
  units += 1
  progress.@{fn} if (units % @{batch}).zero?
  busy += clock - start
end
feed.close
Process.wait(child)
File.write("@{report}", JSON.generate("units" => units, "seconds" => busy, "culprit" => progress.spent))
