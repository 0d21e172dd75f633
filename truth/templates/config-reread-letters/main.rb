# Tells the tenants of a housing company, each in their language, what the heating cost.
require 'json'

LANGUAGES = %w[de fr pl].freeze

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Texts
  attr_reader :spent

  def initialize
    @kept = {}
    @spent = 0.0
  end

  def @{fn}(language)
    File.readlines("@{work}/@{deep}/#{language}.@{words}", chomp: true).to_h do |line|
      name, text = line.split(' = ', 2)
      [name, text.delete('"')]
    end
  end

  def of(language)
    start = now
    known = @kept[language]
    if known.nil? || start - known.first >= @{good_for}
      known = @kept[language] = [start, @{fn}(language)]
    end
    @spent += now - start
    known.last
  end
end

class Statement
  def initialize(texts)
    @texts = texts
    @total = 0.0
  end

  def of(tenant)
    words = @texts.of(tenant[:language])
    lines = tenant[:months].each_with_index.map do |units, month|
      cost = units * 0.11 + 4.2
      @total += cost
      format('%s %02d: %.2f', words["text_#{1 + month % words.size}"], month + 1, cost)
    end
    "#{words['text_1']}, #{tenant[:name]}\n#{lines.join("\n")}"
  end
end

def tenants(batch)
  Array.new(@{letters}) do |i|
    { name: "Flat #{(batch + i) % 800}", language: LANGUAGES[(batch + i) % 3], months: Array.new(3) { |m| (i * 13 + m * 7) % 300 } }
  end
end

texts = Texts.new
statement = Statement.new(texts)
units = 0
busy = 0.0
sent = 0
began = due = now
while now - began < @{seconds}
  start = now
  tenants(units).each { |tenant| sent += statement.of(tenant).bytesize }
  units += 1
  busy += now - start
  due = [due + 1.0 / @{rate}, now].max
  pause = due - now
  sleep(pause) if pause.positive?
end
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: texts.spent))
