# Weaves tapestries: each by a motif, whose pattern is found by its name.
require "digest"
require "json"
require "pathname"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Patterns
  attr_reader :spent

  def initialize(folders)
    @folders = folders.map { |folder| Pathname(folder) }
    @spent = 0.0
    @kept = {}
  end

  def @{fn}(motif)
    start = now
    file = @folders.lazy.map { |folder| folder + "#{motif}@{ending}" }.find(&:exist?)
    @spent += now - start
    raise "no pattern #{motif}" unless file

    JSON.parse(file.read)
  end

  def kept(motif) = @kept[motif] ||= @{fn}(motif)
end

class Loom
  def initialize = @cloth = ""

  def weave(pattern, rows)
    weft = pattern["colours"].cycle.take(pattern["threads"] * 3)
    rows.times do
      weft.rotate!
      @cloth = Digest::SHA256.digest(@cloth + weft.join("|"))
    end
  end
end

folders = "@{order}" == "only" ? [] : Dir.glob("@{work}/@{root}/*").sort
patterns = Patterns.new(folders + ["@{work}/@{shared}"])
loom = Loom.new
units, busy = 0, 0.0
began = now
while now - began < @{seconds}
  start = now
  pattern = @{once} > 0 ? patterns.kept("motif-#{units % [@{once}, 1].max}") : patterns.@{fn}("motif-#{units % (@{last} + 1)}")
  loom.weave(pattern, @{rounds} * 20)
  units += 1
  busy += now - start
  rest = began + units / @{rate}.0 - now
  sleep(rest) if rest > 0
end
File.write("@{report}", JSON.generate("units" => units, "seconds" => busy, "culprit" => patterns.spent))
