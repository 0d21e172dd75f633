# Turns what sensors say into files for the analysts: a file for each batch, the oldest is replaced.
require "json"

FILES = [60_000 / @{kb}, 3].max

def clock
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

class Batches
  attr_reader :putting

  def initialize(path)
    @path, @putting = path, 0.0
  end

  def format(number)
    line = "#{number};temperature;21.5;humidity;40.1\n"
    text = line * (@{kb} * 1000 / line.size)
    (@{rounds} - 1).times { text.setbyte(text.size / 2, 48 + text.count("5") % 10) }
    text
  end

  def @{fn}(number, text)
    start = clock
    File.binwrite("#{@path}.#{number % FILES}", text)
    @putting += clock - start
    text.clear
  end
end

File.write("/sys/fs/cgroup/memory/@{slice}/cgroup.procs", Process.pid.to_s)
batches = Batches.new("@{work}/@{spool}")
finish, due, units, busy = clock + @{seconds}, clock, 0, 0.0
while clock < finish
  start = clock
  batches.@{fn}(units, batches.format(units))
  units += 1
  busy += clock - start
  due = [due + 1.0 / @{per_s}, clock].max
  sleep([due - clock, 0].max)
end
File.write("@{report}", JSON.generate("units" => units, "seconds" => busy, "culprit" => batches.putting))
