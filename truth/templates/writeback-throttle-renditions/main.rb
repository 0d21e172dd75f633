# Takes in the sound of interviews: each worker is a process, cleans what comes, and keeps it on the volume.
require "json"
require "zlib"

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Studio
  SAMPLES = Random.new(5).bytes(@{kb} << 10)

  def initialize(number)
    @number = number
    @turn = 0
    @totals = { units: 0, seconds: 0.0, culprit: 0.0 }
  end

  def receive
    from = (@number * 7919 + @turn * 104_729) % SAMPLES.bytesize
    SAMPLES.byteslice(from..) + SAMPLES.byteslice(0, from)
  end

  # Silence where nobody speaks.
  def cleaned(sound, step)
    gate = 3 + step
    sound.tr("\x00-#{gate.chr}".b, "\x00".b)
  end

  def levels(sound)
    0.step(sound.bytesize - 1, 65_536).map { |at| Zlib.crc32(sound.byteslice(at, 65_536)) % 100 }
  end

  def @{fn}(sound, step)
    File.open("@{work}/@{volume}/#{@number}-#{@turn % 4}-#{step}-@{rendition}", "wb") do |out|
      out.write("RIFF #{sound.bytesize} #{levels(sound).sum}\n")
      0.step(sound.bytesize - 1, 131_072) { |at| out.write(sound.byteslice(at, 131_072)) }
    end
  end

  def take_in
    sound = receive
    (1..@{steps}).each do |step|
      sound = cleaned(sound, step)
      levels(sound)
      next if step <= @{steps} - @{kept}
      started = clock
      @{fn}(sound.byteslice(0, @{size} << 10), step)
      @totals[:culprit] += clock - started
    end
    @turn += 1
  end

  def run(began)
    while clock - began < @{seconds}
      start = clock
      take_in
      @totals[:units] += 1
      @totals[:seconds] += clock - start
      rest = began + @turn / @{rate} - clock
      sleep(rest) if rest > 0
    end
    @totals
  end
end

began = clock
workers = Array.new(@{workers}) do |number|
  from, to = IO.pipe
  fork do
    from.close
    to.write(JSON.generate(Studio.new(number).run(began)))
    to.close
    exit!(0)
  end
  to.close
  from
end
all = workers.map { |from| JSON.parse(from.read) }
Process.waitall
File.write("@{report}", JSON.generate(%w[units seconds culprit].to_h { |name| [name, all.sum { |one| one[name] }] }))
