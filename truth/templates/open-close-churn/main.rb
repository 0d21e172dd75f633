# Books the stock of the shops: which shelf an item has is in a table.
require "json"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Table
  attr_reader :spent

  def initialize(path)
    @path = path
    @spent = 0.0
    @at = nil
  end

  def @{fn}(item)
    asked = now
    if @at.nil? || asked - @at >= @{keep_s}
      @lines = File.open(@path) { |file| file.each_line(chomp: true).to_a }
      @at = asked
      @spent += now - asked
    end
    @lines[item % @lines.size]
  end
end

bookings = Thread::SizedQueue.new(1)
table = Table.new("@{work}/@{folder}/@{letter}")
units = 0
busy = 0.0
booker = Thread.new do
  while (booking = bookings.pop)
    start = now
    @{reads}.times do |i|
      line = table.@{fn}(booking + i)
      @{extra}.times { |k| line.getbyte(k % line.size) }
    end
    units += 1
    busy += now - start
  end
end
began = now
sent = 0
while now - began < @{seconds}
  bookings.push(sent)
  sent += 1
  rest = began + sent / @{rate}.0 - now
  sleep(rest) if rest > 0
end
bookings.push(nil)
booker.join
File.write("@{report}", JSON.dump(units: units, seconds: busy, culprit: table.spent))
