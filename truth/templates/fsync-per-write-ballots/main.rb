# The counting hall: keeps each ballot that the scanners have read, in the file of its box, and counts the votes of the lists.
require 'json'

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Box
  def initialize(number)
    @file = File.open("@{work}/@{boxes}/box-#{number}.votes", 'ab')
    @file.sync = true
    @since = 0
    @last = 0
  end

  def @{fn}(ballot)
    @last += 1
    @file.write(format("%08d;%s;%s\n", @last, ballot, '.' * @{remark}))
    @since += 1
    settle if @since == @{every}
  end

  def settle
    return if @since.zero?

    $settling -= clock
    @file.fdatasync
    $settling += clock
    @since = 0
  end
end

$settling = 0.0
boxes = Array.new(@{count}) { |number| Box.new(number) }
votes = Hash.new(0)
units = 0
busy = 0.0
begin_at = settled = clock
File.open('@{work}/@{tray}') do |tray|
  while clock - begin_at < @{seconds} && (head = tray.gets)
    number, count = head.split.map(&:to_i)
    ballots = Array.new(count) { tray.gets(chomp: true) }
    start = clock
    ballots.each do |ballot|
      boxes[number].@{fn}(ballot)
      list, = ballot.split(';')
      votes[list] += 1
    end
    if @{every}.zero? && clock - settled > @{period}
      boxes.each(&:settle)
      settled = clock
    end
    busy += clock - start
    units += 1
  end
end
boxes.each(&:settle) if @{every}.zero?
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: $settling))
