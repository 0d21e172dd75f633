require "resolv"

require "json"

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

def wait_until(due)
  rest = due - now
  sleep(rest) if rest > 0
end

def report(units, busy, culprit)
  File.write("@{report}", JSON.generate("units" => units, "seconds" => busy, "culprit" => culprit))
end

# Asks the exchanger of each letter's domain before the letter is queued.
class Exchangers
  attr_reader :time

  def initialize
    @names = Resolv::DNS.new(nameserver: ["@{ns}"], search: [], ndots: 1)
    @names.timeouts = [@{patience}] * 3
    @time = 0.0
  end

  def @{fn}(domain)
    start = now
    @names.getaddress(domain).to_s
  rescue Resolv::ResolvError
    nil
  ensure
    @time += now - start
  end
end

exchangers = Exchangers.new
letters = Queue.new
units = 0
busy = 0.0
began = now
worker = Thread.new do
  while (letter = letters.pop)
    start = now
    exchangers.@{fn}("mail#{letter}.@{zone}")
    units += 1
    busy += now - start
  end
end
number = 0
while now - began < @{seconds}
  letters << (number += 1) if letters.empty?
  wait_until(began + number / @{rate}.0)
end
letters.clear
letters << nil
worker.join
report(units, busy, exchangers.time)
