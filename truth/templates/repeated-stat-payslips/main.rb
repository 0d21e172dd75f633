# The payroll of a chain of bakeries.
require 'json'

EACH = @{each}
def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

# The table of taxes, as it is on the disk.
class Taxes
  attr_reader :asking

  def initialize(file)
    @file = file
    @asking = 0.0
    @asked = -1e9
  end

  def @{fn}
    start = clock
    version = File.mtime(@file)
    @asking += clock - start
    return if version == @version

    @version = version
    @table = JSON.parse(File.read(@file))
  end

  def current(line)
    if EACH.zero? ? line.zero? && clock - @asked > 1 : (line % EACH).zero?
      @asked = clock
      @{fn}
    end
    @table
  end
end

def tax(bands, gross)
  from = 0
  sum = 0
  bands.each do |up_to, part|
    break if gross <= from

    sum += ((gross < up_to ? gross : up_to) - from) * part
    from = up_to
  end
  sum
end

def payslip(taxes, employee)
  net = 0
  rows = Array.new(@{lines}) do |line|
    table = taxes.current(line)
    hours = 1 + (employee * 13 + line * 7) % 9
    gross = hours * (1420 + employee % 11 * 100) * ((employee + line) % 6 == 0 ? 5 : 4) / 4
    kept = gross - tax(table['bands'], gross / 5) * 5 - gross * (table['pension'] + table['health'])
    net += kept
    "#{gross};#{kept.to_i}"
  end
  "#{employee}\n#{rows.join("\n")}\n#{net.to_i}\n"
end

taxes = Taxes.new(File.join(ARGV[ARGV.index('--tables') + 1], '@{table}'))
units = bytes = 0
busy = 0.0
began = clock
while clock - began < @{seconds}
  start = clock
  bytes += payslip(taxes, units).size
  units += 1
  busy += clock - start
  sleep([0, began + units / @{rate} - clock].max)
end
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: taxes.asking))
