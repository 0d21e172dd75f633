# Enters arms into the registry: what a blazon says, and whether somebody bears the same.
require "digest"
require "json"
require "open3"

TINCTURES = %w[Azure Gules Or Argent Vert Sable Purpure].freeze
CHARGES = %w[lion eagle bend chevron fess mullet martlet cross saltire pale].freeze
SCRIPT = ["@{tool}", "@{work}/@{script}.@{ending}"].freeze

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

def blazon(number)
  charges = (0...@{charges}).map do |i|
    number = number * 48271 % 2147483647 + i
    ", a #{CHARGES[number % 10]} #{TINCTURES[number / 10 % 7]}"
  end
  TINCTURES[number % 7] + charges.join
end

class Registry
  attr_reader :culprit, :alike

  def initialize
    @arms = Hash.new(0)
    @culprit = 0.0
    @alike = 0
    return unless "@{way}" == "kept"

    @reader = IO.popen(SCRIPT, "r+")
    ask("Or, a lion Gules")
  end

  def ask(text)
    @reader.puts(text)
    @reader.flush
    @reader.gets
  end

  def @{fn}(texts)
    said, state = Open3.capture2(*SCRIPT, stdin_data: texts.join("\n") + "\n")
    raise "not read: #{state}" unless state.success?

    said.lines
  end

  def read(texts)
    return [ask(texts[0])] if @reader

    from = now
    said = @{fn}(texts)
    @culprit += now - from if texts.size == 1
    said
  end

  def enter(texts)
    read(texts).each do |said|
      arms = JSON.parse(said)
      key = Digest::SHA1.hexdigest(arms["fields"].join("/") + arms["sum"].to_s)
      @alike += 1 if (@arms[key] += 1) > 1
    end
  end
end

registry = Registry.new
units, busy, number = 0, 0.0, 0
began = now
while now - began < @{seconds}
  start = now
  registry.enter(Array.new(@{at_once}) { blazon(number += 1) })
  units += 1
  busy += now - start
  rest = began + units / @{rate} - now
  sleep(rest) if rest > 0
end
puts "#{registry.alike} borne by another already"
File.write("@{report}", JSON.generate({ units: units, seconds: busy, culprit: registry.culprit }))
