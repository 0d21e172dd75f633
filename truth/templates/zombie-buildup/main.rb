# Hands the exports to their receivers: a thread takes them from the queue, and spawns the program that delivers.
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

FOLDER = "@{work}/@{outbox}"

def @{fn}(n)
  path = File.join(FOLDER, "export-#{n % 30}")
  command = "@{helper}" == "truncate" ? ["truncate", "-s", "0", path] : ["touch", path]
  pid = spawn(*command)
  case "@{reap}"
  when "at once" then Process.wait(pid)
  when "sometimes" then Process.detach(pid)
  end
end

FileUtils.mkdir_p(FOLDER)
queue = Queue.new
units, busy = 0, 0.0
sender = Thread.new do
  while (n = queue.pop)
    start = now
    @{fn}(n)
    units += 1
    busy += now - start
  end
end
began, n = now, 0
while now - began < @{seconds}
  queue << n
  n += 1
  wait_until(began + n / @{rate})
end
queue << nil
sender.join
report(units, busy, 0.0)
