# Finds customers who were entered twice: each block of addresses is compared pair by pair. A crew takes the blocks from a queue.
require 'json'

WORKERS = @{workers}
PAIRS = @{pairs}
Address = Struct.new(:number, :name, :street, :town)
Tally = Struct.new(:blocks, :busy, :own, :found)
FIRST = %w[Anna Jonas Mila Emil Klara Oskar Lea Paul].freeze
LAST = %w[Brandt Sommer Lindqvist Okafor Petersen Yilmaz Novak Ferrari].freeze
TOWN = %w[Lindau Rostock Fulda Aalen Emden].freeze

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)
def cpu = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)

# Addresses of one postcode; with slips of the pen.
def block(number)
  chance = Random.new(number)
  Array.new(PAIRS * 2) do |i|
    name = "#{FIRST.sample(random: chance)} #{LAST.sample(random: chance)}"
    name.slice!(chance.rand(name.size)) if i.odd?
    Address.new(i, name, "Street #{chance.rand(@{streets})}", TOWN.sample(random: chance))
  end
end

# How many strokes lie between two texts.
def @{fn}(one, two)
  before = (0..two.size).to_a
  one.each_with_index do |a, i|
    row = [i + 1]
    two.each_with_index do |b, j|
      least = before[j] + (a == b ? 0 : 1)
      least = before[j + 1] + 1 if before[j + 1] < least
      least = row[j] + 1 if row[j] < least
      row << least
    end
    before = row
  end
  before.last
end

def doubles(addresses)
  texts = addresses.map { |address| "#{address.name}, #{address.street}".bytes }
  addresses.combination(2).select do |one, two|
    @{fn}(texts[one.number], texts[two.number]) <= 3 && one.town == two.town
  end
end

def work(number, blocks, began)
  tally = Tally.new(0, 0.0, 0.0, 0)
  while clock - began < @{seconds}
    due = [began + tally.blocks / @{pace}.to_f + number / @{pace}.to_f / WORKERS, began + @{seconds}].min
    sleep(due - clock) if due > clock
    addresses = block(blocks.pop)
    start = clock
    own = cpu
    tally.found += doubles(addresses).size
    tally.blocks += 1
    tally.own += cpu - own
    tally.busy += clock - start
  end
  tally
end

def crew_of_threads(began)
  blocks = Queue.new((0...50_000).to_a)
  Array.new(WORKERS) do |number|
    Thread.new do
      Thread.current.name = "compare-#{number}"
      work(number, blocks, began)
    end
  end.map(&:value)
end

def crew_of_processes(began)
  ends = Array.new(WORKERS) do |number|
    IO.popen('-') || begin
      blocks = (number...50_000).step(WORKERS).to_a.reverse
      puts JSON.generate(work(number, blocks, began).to_a)
      exit!(0) if $stdout.flush
    end
  end
  ends.map { |one| Tally.new(*JSON.parse(one.read)).tap { one.close } }
end

began = clock
tallies = '@{crew}' == 'threads' ? crew_of_threads(began) : crew_of_processes(began)
busy = tallies.sum(&:busy)
File.write('@{report}', JSON.generate(units: tallies.sum(&:blocks), seconds: busy, culprit: busy - tallies.sum(&:own)))
puts "#{tallies.sum(&:found)} doubles"
