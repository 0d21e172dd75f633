# Sends mails: a queue, mailers that take from it, and a relay for each kind of address.
require "io/wait"
require "json"
require "socket"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Mailer
  RELAYS = [@{first}, @{second}, @{third}].freeze
  LIMIT = @{limit}

  attr_reader :units, :busy, :asked

  def initialize
    @lines = {}
    @units = 0
    @busy = 0.0
  end

  def line(relay)
    @lines[relay] ||= TCPSocket.new("127.0.0.1", RELAYS[relay]).tap { |line| line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1) }
  end

  def @{fn}(relay, mail)
    line(relay).write(mail)
    raise IOError, "relay #{relay} says nothing" if LIMIT > 0 && !line(relay).wait_readable(LIMIT)
    line(relay).gets or raise EOFError
  rescue IOError, SystemCallError
    @lines.delete(relay)&.close
    nil
  end

  def work(mails)
    while (number = mails.pop)
      @asked = start = now
      mail = "to customer-#{number} #{"m" * (300 + number % 700)}\n"
      nil until @{fn}(number % 3, mail)
      @busy += now - start
      @asked = nil
      @units += 1
    end
  end
end

mails = Queue.new
mailers = Array.new(@{mailers}) { Mailer.new }
mailers.each_with_index do |mailer, number|
  Thread.new { mailer.work(mails) }.name = "mailer-#{number}"
end
Thread.new { TCPServer.new("127.0.0.1", 0).accept } if @{console} == 1
began = now
n = 0
while now - began < @{seconds}
  mails << n
  n += 1
  sleep [began + n / @{pace}.0 - now, 0].max
end
hanging = mailers.sum { |mailer| (asked = mailer.asked) ? now - asked : 0 }
units = mailers.sum(&:units)
File.write("@{report}", JSON.generate(units: units, seconds: mailers.sum(&:busy) + hanging, culprit: hanging))
exit!(0)
