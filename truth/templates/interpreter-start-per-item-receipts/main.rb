# Lays out the receipts of the tills, and spools them for the printer.
require 'json'

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Layout
  attr_reader :laying

  def initialize
    @made = 0
    @laying = 0.0
  end

  def @{fn}(receipt)
    start = now
    @script ||= IO.popen(['node', '@{work}/layout.js'], 'r+')
    @script.puts JSON.generate(receipt)
    text = JSON.parse(@script.gets)
    @made += 1
    close if (@made % @{life}).zero?
    @laying += now - start
    text
  end

  def close
    @script&.close
    @script = nil
  end
end

def receipt(number)
  { number: number, items: Array.new(@{items}) { |i| ["article #{(number * 31 + i * 7) % 500}", (number * 7919 + i * 104_729) % 9000] } }
end

layout = Layout.new
layout.@{fn}(receipt(0)) unless @{life} == 1
before = layout.laying
begun = now
units = 0
busy = 0.0
File.open('@{work}/@{spool}', 'w') do |spool|
  while now - begun < @{seconds}
    start = now
    spool.puts layout.@{fn}(receipt(units + 1))
    units += 1
    busy += now - start
    sleep [0, begun + units / @{rate}.0 - now].max
  end
end
layout.close
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: layout.laying - before))
