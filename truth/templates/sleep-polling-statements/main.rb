# Month's end at a bank: writes each customer's statement and has gzip pack it for the archive.
require 'fileutils'
require 'json'
require 'logger'

ARCHIVE = '@{work}/@{archive}'.freeze
PARTIES = %w[rent salary groceries tram telephone insurance pharmacy books].freeze

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Statement
  def initialize(account)
    @account = account
    chance = Random.new(account)
    @bookings = Array.new(@{bookings}) { |i| [i % 30 + 1, PARTIES[chance.rand(PARTIES.size)], chance.rand(-90_000..100_000)] }
  end

  def write(out)
    balance = @account * 100 % 70_000
    out.printf("STATEMENT %010d\ncarried forward %14.2f\n", @account, balance / 100.0)
    @bookings.sort.each do |day, party, cents|
      balance += cents
      out.printf("%02d %-14s%12.2f%14.2f\n", day, party, cents / 100.0, balance / 100.0)
    end
  end
end

class Archive
  attr_reader :late

  def initialize(log)
    @log = log
    @late = 0.0
    FileUtils.mkdir_p(ARCHIVE)
  end

  def put(account)
    name = format('%s/%04d.txt', ARCHIVE, account % 40)
    File.open(name, 'w') { |out| Statement.new(account).write(out) }
    packer = Process.spawn('gzip', '-9c', in: name, out: "#{name}.gz")
    asked = now
    spent = packing
    raise "gzip of #{name} failed" unless @{fn}(packer).success?

    # How long that was waited for beyond what gzip had to do.
    @late += [now - asked - (packing - spent), 0].max
    File.unlink(name)
    @log.info("#{account}: #{File.size("#{name}.gz")} bytes")
  end

  def count
    loop do
      sleep @{tick} / 1000.0
      @log.info("#{Dir.children(ARCHIVE).size} in the archive")
    end
  end

  private

  # The seconds of the processor that went into packing.
  def packing = Process.times.then { |times| times.cutime + times.cstime }

  def @{fn}(packer)
    return Process.wait2(packer)[1] if '@{wait}' == 'told'

    loop do
      _, status = Process.wait2(packer, Process::WNOHANG)
      return status if status

      sleep @{pause} / 1000.0
    end
  end
end

archive = Archive.new(Logger.new('@{work}/statements.log'))
Thread.new { archive.count }
began = now
units = 0
busy = 0.0
while now - began < @{seconds}
  start = now
  archive.put(4_000_000 + units)
  busy += now - start
  units += 1
  rest = began + units / @{rate}.to_f - now
  sleep rest if rest.positive?
end
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: archive.late))
