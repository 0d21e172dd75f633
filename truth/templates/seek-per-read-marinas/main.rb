# Bills of a marina: what each berth took of power and water on a day, in the order of the lessees.
require "json"

RECORD = @{size}
BERTHS = @{berths}
def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Sheet
  attr_reader :by_jetty

  def initialize
    @by_jetty = Array.new(26, 0)
  end

  def add(berth, records, at)
    @by_jetty[berth % 26] += records.getbyte(at) * 31 + records.getbyte(at + 4) * 4
  end
end

class Marina
  attr_reader :spent

  def initialize(path)
    @meters = File.open(path, "rb")
    @lessees = (0...BERTHS).to_a.shuffle(random: Random.new(@{seed}))
    @spent = 0.0
  end

  def @{fn}(day)
    start = clock
    sheet = Sheet.new
    record = String.new(capacity: RECORD)
    @lessees.each do |berth|
      @meters.sysseek((day * BERTHS + berth) * RECORD)
      @meters.sysread(RECORD, record)
      sheet.add(berth, record, 0)
    end
    @spent += clock - start
    sheet
  end

  def whole_day(day)
    sheet = Sheet.new
    all = @meters.pread(RECORD * BERTHS, day * BERTHS * RECORD)
    @lessees.each { |berth| sheet.add(berth, all, berth * RECORD) }
    sheet
  end

  def desk(day)
    sheet = Sheet.new
    @{few}.times do
      berth = @lessees.sample
      sheet.add(berth, @meters.pread(RECORD, (day * BERTHS + berth) * RECORD), 0)
    end
    sheet
  end
end

marina = Marina.new("@{file}")
way = { "each" => :@{fn}, "day" => :whole_day }.fetch("@{how}", :desk)
units, busy, owed = 0, 0.0, 0
began = clock
while clock - began < @{seconds}
  start = clock
  owed += marina.public_send(way, units % @{days}).by_jetty.sum
  units += 1
  busy += clock - start
  rest = began + units / @{rate}.0 - clock
  sleep(rest) if rest > 0
end
puts "owed: #{owed}"
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: marina.spent))
