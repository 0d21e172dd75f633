# The cash office of a toll bridge: each shift's takings are added up and filed.
require "json"
require "zlib"

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Office
  SYNC = 162 # of x86-64

  attr_reader :spent

  def initialize(path)
    @account, @spent = File.open(path, "a"), 0.0
  end

  # The road authority wants a mark that was hard to find.
  def prove(rows)
    text, tries = rows.join, 0
    done = clock + @{proof_ms} / 1000.0
    best = Zlib.crc32(text)
    best = [best, Zlib.crc32(text, tries += 1)].min while clock < done
    best
  end

  def file(shift, cars)
    rows = cars.map { |plate, axles| "#{shift};#{plate};#{axles * 150}" }
    @account.puts(rows, "= #{rows.size} #{prove(rows)}")
    @account.flush
  end

  def @{fn}(how)
    start = clock
    case how
    when "all" then Kernel.syscall(SYNC)
    when "own" then @account.fdatasync
    end
    @spent += clock - start
  end
end

def passed(shift)
  state = shift * 7919 + 1
  Array.new(@{cars}) do
    state = (state * 1_664_525 + 1_013_904_223) & 0xffffffff
    [format("B %05d", (state >> 8) % 100_000), 2 + (state >> 20) % 4]
  end.sort
end

$VERBOSE = nil
office = Office.new("@{work}/@{account}")
units, busy = 0, 0.0
began = due = clock
while clock - began < @{seconds}
  start = clock
  office.file(units, passed(units))
  office.@{fn}("@{settle}")
  busy += clock - start
  units += 1
  due = [due + 1.0 / @{rate}, clock].max
  sleep([due - clock, 0].max)
end
spent = office.spent
office.@{fn}("all") if "@{settle}" == "last"
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: spent))
