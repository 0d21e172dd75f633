# Sorts the complaints of a day: what each is about, and which order it belongs to.
require 'json'

FREE = /^(.*);(.*);.* order=(\d+)$/
STRICT = /\A((?>[^;]*;)+) order=(\d+)\z/

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

def read_day(path)
  File.read(path).split("\n\n").map do |letter|
    letter.each_line(chomp: true).to_h { |line| line.split(': ', 2) }
  end
end

def @{fn}(text)
  if '@{expression}' == 'strict'
    found = STRICT.match(text) or return
    parts = found[1].split(';')
    return [parts.first, parts.last, found[2]]
  end
  found = FREE.match(text)
  found&.captures
end

# How often customers use each word, and which words go together.
def count_words(words, text)
  before = nil
  text.split(/[ ;=]/).each do |word|
    next if word.empty?

    words[word] += 1
    words["#{before}+#{word}"] += 1
    before = word
  end
end

words = Hash.new(0)
subjects = Hash.new(0)
unsorted = []
units = sorted = 0
busy = taking = 0.0
began = now
while (start = now) - began < @{seconds}
  read_day("@{work}/@{inbox}/day-#{units % @{days} + 1}.txt").each do |complaint|
    subjects[complaint['subject']] += 1
    count_words(words, complaint['text'])
    asked = now
    parts = @{fn}(complaint['text'])
    taking += now - asked
    if parts
      sorted += 1
    elsif unsorted.size < 1000
      unsorted << complaint['from']
    end
  end
  units += 1
  busy += now - start
  rest = began + units / @{pace}.to_f - now
  sleep rest if rest.positive?
end
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: taking))
puts "#{sorted} sorted, #{unsorted.size} not, #{words.size} words"
