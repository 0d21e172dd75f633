# Plans how a ship is loaded: hold by hold, so that she neither heels nor trims too much.
require "json"

TABLE = "@{work}/@{yard}/@{table}"
ROW = @{row}
ROWS = File.size(TABLE) / ROW
BLOCK = 256

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

Hold = Struct.new(:tonnes, :arm, :height)

class Hydrostatics
  attr_reader :spent

  def initialize
    @spent = 0.0
    @all = File.binread(TABLE) if "@{way}" == "all"
  end

  # A ship's rows are beside each other.
  def ship(number)
    return unless "@{way}" == "block"
    @first = number * BLOCK % (ROWS - BLOCK)
    @block = File.open(TABLE, "rb") { |file| file.pread(BLOCK * ROW, @first * ROW) }
  end

  def @{fn}(draught)
    start = now
    row =
      if @all
        @all.byteslice(draught % ROWS * ROW, ROW)
      elsif @block
        @block.byteslice(draught % BLOCK * ROW, ROW)
      else
        File.open(TABLE, "rb") { |file| file.pread(ROW, draught % ROWS * ROW) }
      end
    @spent += now - start
    row.unpack("S<8")
  end
end

def orders(number)
  Array.new(@{steps}) { |i| Hold.new(200 + (number * 37 + i * 113) % 900, (i % @{frames} - @{frames} / 2.0) * 12.5, 3.0 + i % 7) }
end

def plan(tables, number)
  weight, moment, lift, worst = 9000.0, 0.0, 0.0, 0.0
  orders(number).each do |hold|
    weight += hold.tonnes
    moment += hold.tonnes * hold.arm
    lift += hold.tonnes * hold.height
    row = tables.@{fn}((weight * 7919).to_i + number)
    metacentre = 6.0 + row[0] / 65_536.0 * 3 + row[1] / 65_536.0
    trim = moment / (weight * (100 + row[2] % 50))
    heel = Math.atan2(lift / weight - metacentre, 1.0 + row[3] % 40)
    worst = [worst, trim.abs + heel.abs].max
  end
  worst
end

tables = Hydrostatics.new
units, busy, worst = 0, 0.0, 0.0
began = now
while now - began < @{seconds}
  start = now
  tables.ship(units)
  worst = [worst, plan(tables, units)].max
  units += 1
  busy += now - start
  rest = began + units / @{rate}.0 - now
  sleep(rest) if rest > 0
end
puts format("%.3f", worst)
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: tables.spent))
