# Brings the articles of the bylaws into the municipal gazette.
require 'json'
require 'zlib'

SUBJECTS = ['the keeping of poultry', 'the lighting of "open fires"', 'the clearing of snow', 'stalls on the market square'].freeze

def clock
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

class Gazette
  def initialize
    @script = nil
    @set = 0
  end

  def @{fn}(text)
    @script ||= IO.popen(['/usr/bin/python3', '@{work}/@{script}'], 'r+')
    @script.puts(text)
    @script.flush
    article = @script.gets
    close if (@set += 1) >= @{articles}
    JSON.parse(article).fetch('lines')
  end

  def close
    @script&.close
    @script = nil
    @set = 0
  end
end

def draft(number)
  (0..@{clauses}).map do |i|
    "#{SUBJECTS[(number + i) % SUBJECTS.size]} is governed by Sec. #{i + 1} and the fee of #{(number * 31 + i * 7) % 90}"
  end.join('; ')
end

# Finds the page on which an article leaves the least room.
def place(lines)
  text = lines.join("\n")
  (0...@{passes}).min_by { |pass| Zlib.crc32(text, pass) }
end

gazette = Gazette.new
pages = Array.new(@{passes}, 0)
began, busy, culprit, units = clock, 0.0, 0.0, 0
while clock - began < @{seconds}
  start = clock
  text = draft(units)
  set = clock
  lines = gazette.@{fn}(text)
  culprit += clock - set
  pages[place(lines)] += lines.size
  units += 1
  busy += clock - start
  rest = units / @{per_s} - (clock - began)
  sleep rest if rest.positive?
end
gazette.close
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: culprit))
