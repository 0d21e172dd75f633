# Plans the stringing of harpsichords: which gauges of wire bear the tension that a scale asks for.
require "json"

ROOM = "@{room}"

def now(clock = Process::CLOCK_MONOTONIC) = Process.clock_gettime(clock)

def enter(room)
  File.write("/sys/fs/cgroup/cpu/#{room}/cgroup.procs", Process.pid.to_s)
end

Wire = Struct.new(:gauge, :density, :limit) do
  def tension(length, pitch)
    4 * length * length * pitch * pitch * density * Math::PI * gauge * gauge / 4
  end
end

WIRES = Array.new(@{partials} * 3) { |i| Wire.new(0.2e-3 + i * 0.02e-3, 8500 - i * 20, 900e6 + i * 5e6) }

def @{fn}(instrument, rounds)
  best = nil
  rounds.times do |round|
    octave = 0.30 + (instrument * 7 + round) % 60 / 1000.0
    strain = 0.0
    6.times do |note|
      pitch = 65.4 * 2**(note * 10 / 12.0)
      length = octave * 523.25 / pitch * (1 - note * 0.01)
      wire = WIRES[(round + note * 3) % WIRES.size]
      strain += (wire.tension(length, pitch) / (Math::PI * wire.gauge**2 / 4) / wire.limit - 0.6).abs
    end
    best = [strain, octave, round % WIRES.size] if best.nil? || strain < best[0]
  end
  best
end

rounds = @{effort_ms} * 330
enter(ROOM)
if @{archive} == 1
  parent = Process.pid
  archive = fork do
    enter("#{ROOM}-archive")
    instrument = 0
    @{fn}(instrument += 1, 2000) while Process.ppid == parent
  end
  at_exit { Process.kill(:KILL, archive) if Process.pid == parent }
end

units, busy, held, began = 0, 0.0, 0.0, now
orders = []
while now - began < @{seconds}
  start, before = now, now(Process::CLOCK_PROCESS_CPUTIME_ID)
  strain, octave, first = @{fn}(units, rounds)
  held += [0, (now - start) - (now(Process::CLOCK_PROCESS_CPUTIME_ID) - before)].max
  orders << { instrument: units, strain: strain.round(4), octave: octave, wire: WIRES[first].gauge }
  if orders.size == 40
    File.write("@{work}/orders.json", JSON.pretty_generate(orders))
    orders.clear
  end
  units += 1
  took = now - start
  busy += took
  sleep([1 / @{per_s} - took, 0].max)
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: held))
