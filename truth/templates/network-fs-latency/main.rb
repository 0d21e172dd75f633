# Checks the papers that come in against rules; several checkers look the rules up by themselves.
require "json"
require "digest"

CHECKERS = 3
$guard, $totals = Mutex.new, { "units" => 0, "seconds" => 0.0, "culprit" => 0.0 }

def clock
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

def @{fn}(folder, wanted)
  names = Dir.children(folder).sort
  Array.new(wanted) { |i| names[(i * 17 + 3) % names.size] }.map do |name|
    path = File.join(folder, name)
    File.readable?(path) ? File.read(path) : ""
  end
end

def check(paper, rules)
  @{rounds}.times { paper = Digest::SHA1.hexdigest(paper + rules.first[0, 80]) }
  paper
end

File.read("@{work}/@{first}/part2/@{item}-2.txt")
finish = clock + @{seconds}
papers = SizedQueue.new(CHECKERS)
checkers = Array.new(CHECKERS) do
  Thread.new do
    while (paper = papers.pop) != :over
      start = clock
      rules = @{fn}("@{work}/@{source}/part#{paper % 6 + 1}", @{files})
      took = clock - start
      check("paper #{paper}", rules)
      $guard.synchronize do
        $totals["units"] += 1
        $totals["seconds"] += clock - start
        $totals["culprit"] += took
      end
    end
  end
end

number, due = 0, clock
while clock < finish
  papers.push(number += 1)
  due = [due + 1.0 / @{per_s}, clock].max
  sleep([due - clock, 0].max)
end
CHECKERS.times { papers.push(:over) }
checkers.each(&:join)
File.write("@{report}", JSON.generate($totals))
