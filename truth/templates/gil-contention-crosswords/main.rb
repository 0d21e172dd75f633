# The desk of a puzzle page: answers readers' clues, and has the grids of the next days filled meanwhile.
require "json"

LETTERS = "eeeeeaaaiioonnrrttllssuddgbcmpfhvwykjxqz".chars.freeze
SIZE, TRIES, WORDS = @{size}, @{tries}, @{words}

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
def cpu = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)

def lexicon(seed)
  chance = Random.new(seed)
  Array.new(WORDS) { Array.new(chance.rand(3...SIZE)) { LETTERS[chance.rand(LETTERS.size)] }.join }
end

# Puts words into an empty grid until enough were tried; tells how many letters are crossed.
def @{fn}(day)
  chance, words = Random.new(day), lexicon(day % 5)
  grid, crossed = Array.new(SIZE) { Array.new(SIZE) }, 0
  TRIES.times do
    word = words[chance.rand(WORDS)]
    row, column, across = chance.rand(SIZE), chance.rand(SIZE - word.size + 1), chance.rand < 0.5
    places = Array.new(word.size) { |i| across ? [row, column + i] : [column + i, row] }
    letters = word.chars
    next unless places.each_with_index.all? { |(y, x), i| grid[y][x].nil? || grid[y][x] == letters[i] }

    places.each_with_index do |(y, x), i|
      crossed += 1 if grid[y][x]
      grid[y][x] = letters[i]
    end
  end
  crossed
end

class Desk
  attr_reader :units, :busy, :waited

  def initialize(words)
    @by_length = words.group_by(&:size)
    @units, @busy, @waited = 0, 0.0, 0.0
  end

  def matches(pattern)
    letters = pattern.chars
    (@by_length[letters.size] || []).select { |word| letters.each_with_index.all? { |p, i| p == "?" || p == word[i] } }
  end

  # A reader waits since the clue came in.
  def answer(clue, came)
    own = cpu
    found = clue.to_h { |pattern| [pattern, matches(pattern)] }
    text = JSON.generate(clue: clue, found: found, best: found.max_by { |_, words| words.size }.first)
    @units += 1
    wall = now - came
    @busy += wall
    @waited += [0.0, wall - (cpu - own)].max
    text
  end
end

def clue(chance)
  length = chance.rand(4...SIZE)
  Array.new(200) { Array.new(length) { chance.rand < 0.7 ? "?" : LETTERS[chance.rand(LETTERS.size)] }.join }
end

began = now
if "@{where}" == "apart"
  setters = [fork do
    rounds = 0
    while now - began < @{seconds}
      @{setters}.times { |n| @{fn}(rounds * @{setters} + n) }
      rest = began + (rounds += 1) * @{round} - now
      sleep(rest) if rest.positive?
    end
    exit!(0)
  end]
  finish = -> { setters.each { |one| Process.wait(one) } }
else
  setters = Array.new(@{setters}) do |number|
    Thread.new do
      Thread.current.name = "setter-#{number}"
      rounds = 0
      while now - began < @{seconds}
        @{fn}(rounds * @{setters} + number)
        rest = began + (rounds += 1) * @{round} - now
        sleep(rest) if rest.positive?
      end
    end
  end
  finish = -> { setters.each(&:join) }
end

desk, chance = Desk.new(lexicon(0)), Random.new(7)
while now - began < @{seconds}
  desk.answer(clue(chance), [now, began + desk.units / @{rate}.to_f].min)
  rest = began + desk.units / @{rate}.to_f - now
  sleep(rest) if rest.positive?
end
finish.call
File.write("@{report}", JSON.generate(units: desk.units, seconds: desk.busy, culprit: desk.waited))
