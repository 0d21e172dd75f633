# Prints the song sheets of a choir: number, title and voices of each song that is rehearsed.
require 'json'

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Library
  attr_reader :looking

  def initialize(folder, count)
    @editions = (1..count).map { |n| format('%s/edition-%03d', folder, n) }
    @found = {}
    @looking = 0.0
  end

  def @{fn}(song)
    return @found[song] if @found.key?(song)

    start = now
    edition = @editions.find { |folder| File.exist?("#{folder}/hymn-#{song}@{ending}") }
    @looking += now - start
    @found[song] = edition if @{known} == 1
    edition
  end
end

library = Library.new('@{work}/@{name}', @{editions})
sheets = 0
letters = 0
busy = 0.0
began = now
while now - began < @{seconds}
  start = now
  sheet = Array.new(@{hymns}) do |i|
    song = (sheets * 5 + i * 13) % 150 + 1
    "#{song} #{File.basename(library.@{fn}(song) || 'unknown')} #{%w[soprano alto tenor bass][i % 4]}"
  end
  letters += sheet.join("\n").size
  sheets += 1
  busy += now - start
  rest = start + 1.0 / @{per_s} - now
  sleep rest if rest.positive?
end
File.write('@{report}', JSON.generate(units: sheets, seconds: busy, culprit: library.looking, letters: letters))
