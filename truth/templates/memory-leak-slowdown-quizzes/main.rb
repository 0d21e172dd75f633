require "json"
require "set"

# A quiz: the answers of each round are marked, the players ranked.
Marked = Struct.new(:player, :given, :points, :at)

class Quiz
  PLAYERS = @{players}
  ANSWERS = 1800

  def initialize
    @rounds = []
    @points = Hash.new(0)
  end

  def receive(round)
    (0...ANSWERS).map do |answer|
      "player-#{(answer * 31 + round) % PLAYERS};q#{answer % @{questions}};#{(answer * 7919 ^ round * 104729).to_s(16)};#{(answer * 37 + round) % 100}"
    end
  end

  def mark(given, haste)
    given.sum % 7 == 0 ? 0 : 10 + haste / 10
  end

  # For the case that somebody protests.
  def @{fn}(marked)
    @rounds << marked
    @rounds.shift while @rounds.size > @{kept}
  end

  def rank
    @points.sort_by { |player, points| [-points, player] }.first(10)
  end

  def play(round)
    marked = receive(round).map do |text|
      player, _question, given, haste = text.split(";")
      got = mark(given, haste.to_i)
      @points[player] += got
      Marked.new(player, given, got, round)
    end
    @{fn}(marked)
    rank
  end
end

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

quiz = Quiz.new
units, busy = 0, 0.0
began = clock
before = GC.stat(:time)
while clock - began < @{seconds}
  start = clock
  raise "nobody plays" if quiz.play(units).empty?
  units += 1
  busy += clock - start
  rest = began + units / @{rate}.0 - clock
  sleep(rest) if rest > 0
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: (GC.stat(:time) - before) / 1000.0))
