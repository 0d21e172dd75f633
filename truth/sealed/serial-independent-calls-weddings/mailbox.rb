# The office's mailbox: gives each planner an enquiry, and takes the offer for it.
require "socket"

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

def correspond(planner, number)
  due = clock + number * 0.017
  (1..).each do |n|
    planner.write("enquiry #{number}-#{n} #{(n * 31 + number * 7) % 365} #{20 + n % 130}\n")
    break unless planner.gets

    now = clock
    due = [due + 1 / @{rate}, now].max
    sleep(due - now)
  end
rescue SystemCallError, IOError
  nil
ensure
  planner.close
end

door = TCPServer.new("127.0.0.1", @{mailbox})
number = 0
loop do
  planner = door.accept
  planner.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  Thread.new(planner, number += 1) { |link, which| correspond(link, which) }
end
