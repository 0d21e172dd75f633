# Takes the fields of a slide: each is cleaned in steps, and cells are counted in the last.
require "json"

EDGE, SIDE = @{edge}, @{side}

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

# A field as the sensor gives it: rows of 16 bits a pixel.
class Field
  attr_reader :number, :rows

  def initialize(number)
    @number, chance = number, Random.new(number)
    @rows = Array.new(EDGE) { chance.bytes(EDGE * 2) }
  end

  # Replaces the outliers of a few rows by those of the row before.
  def clean(step)
    (step...EDGE).step(16) do |y|
      before = @rows[y - 1].unpack("v*")
      @rows[y] = @rows[y].unpack("v*").each_with_index.map { |pixel, x| (pixel - before[x]).abs > 40_000 ? before[x] : pixel }.pack("v*")
    end
  end

  def cells
    @rows.each_slice(16).sum { |some| some[0].unpack("v*").each_cons(2).count { |a, b| a <= 30_000 && b > 30_000 } }
  end
end

class Archive
  attr_reader :took

  def initialize(folder)
    @folder, @took = folder, 0.0
  end

  def @{fn}(field, step)
    start = now
    skip = EDGE / SIDE
    kept = (0...SIDE).map { |y| field.rows[y * skip].byteslice(0, SIDE * 2) }.join
    File.binwrite("#{@folder}/f#{field.number}-s#{step}@{suffix}", kept)
    @took += now - start
  end
end

archive = Archive.new("@{work}/@{volume}")
units, busy, found, began = 0, 0.0, 0, now
while now - began < @{seconds}
  start = now
  field = Field.new(units)
  1.upto(@{steps}) do |step|
    field.clean(step)
    archive.@{fn}(field, step) if step > @{steps} - @{keep}
  end
  found += field.cells
  units += 1
  busy += now - start
  sleep([0, began + units / @{rate}.to_f - now].max)
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: archive.took, cells: found))
