# Renders labels with a few threads; each of them has a spool of its own that the printers take from.
require "json"

SPOOLS = 3
$guard, $totals = Mutex.new, [0, 0.0, 0.0]

def clock
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

def render(number)
  ("label %08d " % number + "#" * 500) * (@{kb} * 1000 / 515 + 1)
end

def @{fn}(spool, label)
  start = clock
  spool.seek(0) if spool.pos > 14_000_000
  spool.syswrite(label)
  clock - start
end

finish = clock + @{seconds}
threads = SPOOLS.times.map do |index|
  Thread.new do
    Thread.current.name = "spool-#{index}"
    File.open("@{work}/@{volume}/@{export}.#{index}", "wb") do |spool|
      spool.sync = true
      due = clock + index / @{per_s}.to_f / SPOOLS
      number = 0
      while clock < finish
        sleep([0, due - clock].max)
        start = clock
        label = render(number += 1)
        took = @{fn}(spool, label)
        $guard.synchronize do
          $totals[0] += 1
          $totals[1] += clock - start
          $totals[2] += took
        end
        due = [due + SPOOLS / @{per_s}.to_f, clock].max
      end
    end
  end
end
threads.each(&:join)
File.write("@{report}", JSON.generate("units" => $totals[0], "seconds" => $totals[1], "culprit" => $totals[2]))
