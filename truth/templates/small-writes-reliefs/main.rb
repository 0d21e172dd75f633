# Makes models for a 3D printer from sheets of a relief map: binary STL, two triangles for each cell of the grid.
OUTBOX = '@{work}/@{outbox}'
GATHER = @{gather}
SIDE = @{side}

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

# A model's file: what is handed to it goes out when there is enough.
class Model
  attr_reader :spent

  def initialize(path)
    @file = File.open(path, 'wb')
    @kept = String.new(capacity: GATHER + 4096)
    @spent = 0.0
  end

  def @{fn}(bytes)
    start = clock
    if GATHER.zero?
      @file.syswrite(bytes)
    else
      @kept << bytes
      flush if @kept.bytesize >= GATHER
    end
    @spent += clock - start
  end

  def flush
    @file.syswrite(@kept) unless @kept.empty?
    @kept.clear
  end

  def close
    flush
    @file.close
  end
end

def corner(heights, x, y)
  [x, y, heights[y * (SIDE + 1) + x]].pack('e3')
end

FACING = { lower: [0.0, 0.0, 1.0].pack('e3'), upper: [0.1, 0.0, 0.99].pack('e3') }.freeze
NO_COLOUR = [0].pack('S<')

def facet(model, normal, corners)
  model.@{fn}(normal)
  corners.each { |bytes| model.@{fn}(bytes) }
  model.@{fn}(NO_COLOUR)
end

def sheet(heights, number, bench)
  model = Model.new("#{OUTBOX}/bench#{bench}-#{number % 20}.stl")
  unless (number % @{every}).zero?
    model.@{fn}("sheet #{number} is left out\n")
    model.close
    return model.spent
  end
  model.@{fn}("relief #{number}".ljust(80, "\0"))
  model.@{fn}([SIDE * SIDE * 2].pack('L<'))
  SIDE.times do |y|
    SIDE.times do |x|
      here = corner(heights, x, y)
      across = corner(heights, x + 1, y + 1)
      facet(model, FACING[:lower], [here, corner(heights, x + 1, y), across])
      facet(model, FACING[:upper], [here, across, corner(heights, x, y + 1)])
    end
  end
  model.close
  model.spent
end

def bench_work(bench, report)
  chance = Random.new(bench)
  heights = Array.new((SIDE + 1)**2) { @{height} * chance.rand }
  units = 0
  busy = spent = 0.0
  begin_at = clock
  due = begin_at
  while clock - begin_at < @{seconds}
    start = clock
    spent += sheet(heights, units + 1, bench)
    busy += clock - start
    units += 1
    due = [due + @{benches} / @{load}, clock].max
    sleep(due - clock) if due > clock
  end
  report.puts "#{units} #{busy} #{spent}"
  report.close
end

# Each bench is a process of its own.
results = Array.new(@{benches}) do |bench|
  from, to = IO.pipe
  fork do
    from.close
    bench_work(bench, to)
  end
  to.close
  from
end
rows = results.map { |from| from.gets.split.map(&:to_f) }
Process.waitall
units, busy, spent = rows.transpose.map(&:sum)
File.write('@{report}', %({"units": #{units.to_i}, "seconds": #{busy}, "culprit": #{spent}}))
