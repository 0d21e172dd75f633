# Counts journal entries for each minute and keeps watch of two journals.
require 'json'
require 'socket'

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Watch
  attr_reader :units, :busy, :culprit

  def initialize(count)
    @journals = Array.new(count) { TCPSocket.new('127.0.0.1', @{port}) }
    @units = 0
    @busy = @culprit = 0.0
    @counts = Hash.new(0)
    @due = clock + @{flush} / 1000.0
  end

  def @{fn}
    patience = @{patience} == 0 ? 0 : [@due - clock, 0.001].max
    start = clock
    ready, = IO.select(@journals, nil, nil, patience)
    if @{patience} == 0
      @culprit += clock - start
      @busy += clock - start
    end
    ready || []
  end

  def enter(line)
    start = clock
    word, number, = line.split
    @counts[number.to_i / 60] += word.size while clock - start < @{effort} / 1000.0
    @units += 1
    @busy += clock - start
  end

  def round
    @{fn}.each do |journal|
      enter(journal.gets)
      enter(journal.gets) while @{patience} == 2 && IO.select([journal], nil, nil, 0)
    end
    return if clock < @due

    @counts.shift if @counts.size > 100
    @due = clock + @{flush} / 1000.0
  end
end

watch = Watch.new(2)
began = clock
watch.round while clock - began < @{seconds}
File.write('@{report}', JSON.dump({ units: watch.units, seconds: watch.busy, culprit: watch.culprit }))
