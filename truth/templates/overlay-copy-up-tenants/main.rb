# Books the payments of a hosting service's clubs: a line at the end of each club's book.
require 'digest'
require 'json'

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Cashier
  attr_reader :writing, :number

  def initialize
    @writing = 0.0
    @number = 0
  end

  def @{fn}(club, line)
    start = now
    File.open("@{work}/@{at}/shop-#{club}.book", 'ab') { |book| book.write(line) }
    @writing += now - start
  end

  def pay
    parts = Array.new(@{lines}) { |member| "#{member}=#{1200 + (member * @number) % 90}" }
    @{fn}(@number % @{shops} + 1, "#{@number};#{Digest::MD5.hexdigest(parts.join(';'))}\n")
    @number += 1
  end
end

cashier = Cashier.new
busy = 0.0
began = now
while now - began < @{seconds}
  start = now
  cashier.pay
  busy += now - start
  rest = start + 1.0 / @{rate} - now
  sleep rest if rest.positive?
end
File.write('@{report}', JSON.generate(units: cashier.number, seconds: busy, culprit: cashier.writing))
