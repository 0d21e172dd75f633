# Moves finished uploads to their final names, in a thread for each half of the folder.
require "json"
require "fileutils"

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

def wait_until(due)
  rest = due - now
  sleep(rest) if rest > 0
end

def report(units, seconds, culprit)
  File.write("@{report}", JSON.generate({ units: units, seconds: seconds, culprit: culprit }))
end

FOLDER = "@{work}/@{folder}"

def @{fn}(half, n)
  (0...@{files} / 2).each do |i|
    from, to = "#{FOLDER}/#{half}-#{i}.part", "#{FOLDER}/#{half}-#{i}.done"
    from, to = to, from if n.odd?
    File.rename(from, to)
    File.chmod(0o640, to)
  end
end

FileUtils.mkdir_p(FOLDER)
2.times { |half| (@{files} / 2).times { |i| File.write("#{FOLDER}/#{half}-#{i}.part", "") } }
File.write("@{work}/service.pid", "#{Process.pid}\n")
sleep(0.15)
units, busy, culprit, sum = 0, 0.0, 0.0, 0
queue, done = Queue.new, Queue.new
worker = Thread.new do
  while (n = queue.pop)
    2.times { |half| @{fn}(half, n) }
    done << true
  end
end
began = now
while now - began < @{seconds}
  start = now
  queue << units
  done.pop
  culprit += now - start
  (@{spins} * 120).times { |i| sum = (sum * 31 + i) % 1_000_003 }
  units += 1
  busy += now - start
  wait_until(began + units.to_f / @{rate})
end
queue << nil
worker.join
report(units, busy, culprit)
