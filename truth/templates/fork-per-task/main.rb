# Takes over the letters of the old system, which wrote Latin 1; two workers share the queue.
require "json"
require "open3"

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

def @{fn}(text, n)
  if "@{way}" == "call" && n % @{every} == 0
    converted, = Open3.capture2("iconv", "-f", "ISO-8859-1", "-t", "UTF-8", stdin_data: text, binmode: true)
    return converted.force_encoding("UTF-8")
  end
  text.dup.force_encoding("ISO-8859-1").encode("UTF-8")
end

queue = SizedQueue.new(8)
lock = Mutex.new
units, busy, culprit, words = 0, 0.0, 0.0, 0
workers = Array.new(2) do
  Thread.new do
    while (n = queue.pop)
      start = now
      letter = "Gr\xFC\xDFe an Kunde #{n}: das Paket ist da. ".b * (10 + n % 30)
      asked = now
      text = @{fn}(letter, n)
      took = now - asked
      count = text.split.size
      lock.synchronize do
        units += 1
        words += count
        culprit += took
        busy += now - start
      end
    end
  end
end
began, n = now, 0
while now - began < @{seconds}
  queue << n
  n += 1
  wait_until(began + n.to_f / @{rate})
end
workers.each { queue << nil }
workers.each(&:join)
report(units, busy, culprit)
