# Tidies the notes that customers leave with their orders, and counts what they mention.
require 'json'

WORDS = %w[please leave at the door ring twice gift second floor].freeze

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

def note(number)
  Array.new(@{lines}) do |line|
    words = Array.new(@{words}) { |word| WORDS[(number * 7 + line * 3 + word) % WORDS.size] }
    # Pasted from a form with columns.
    words.insert(words.size / 2, ' ' * (@{blanks} - number % 5 * (@{blanks} >> 5)))
    words.join(' ') + ' ' * (number % 4)
  end.join("\n")
end

def @{fn}(text)
  return text.lines(chomp: true).map(&:rstrip).join("\n") if '@{pattern}' == 'cut'

  text.gsub(/[ \t]+$/, '')
end

units = mentioned = 0
busy = culprit = 0.0
began = now
while (start = now) - began < @{seconds}
  text = note(units)
  asked = now
  tidy = @{fn}(text)
  culprit += now - asked
  mentioned += tidy.scan('gift').size
  units += 1
  busy += now - start
  rest = began + units / @{rate}.to_f - now
  sleep rest if rest.positive?
end
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: culprit))
puts mentioned
