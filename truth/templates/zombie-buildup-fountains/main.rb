# Plays the water show: works each moment's figure out, and sends the jet that changes most its command.
require "json"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Show
  attr_reader :starting

  def initialize(jets)
    @heights = Array.new(jets, 0.0)
    @starting = 0.0
    @out = []
  end

  # A command takes its time on the bus, which the music does not wait for.
  def @{fn}(jet, height)
    start = now
    child = spawn("@{work}/valve", format("J%02d H%05.1f", jet, height), jet.to_s)
    case "@{collect}"
    when "each" then Process.detach(child)
    when "some" then @out << child
    end
    @starting += now - start
  end

  def moment(beat)
    wanted = @heights.each_index.map { |jet| 4 + 3 * Math.sin(beat * 0.21 + jet * 0.7) + 2 * Math.cos(beat * 0.05 * jet) }
    jet = wanted.each_index.max_by { |one| (wanted[one] - @heights[one]).abs }
    @heights[jet] = wanted[jet]
    @{fn}(jet, wanted[jet] * 10)
    @out.reject! { |child| Process.wait(child, Process::WNOHANG) } if beat % 4 == 3
  end
end

show = Show.new(@{jets})
beat = 0
busy = 0.0
began = now
while now - began < @{seconds}
  start = now
  show.moment(beat)
  beat += 1
  busy += now - start
  sleep [0, began + beat / @{rate} - now].max
end
File.write("@{report}", JSON.generate(units: beat, seconds: busy, culprit: show.starting))
