# A survey ship: whenever it is asked it delivers the next line of soundings, as a file, and says its name. Of what it has delivered it keeps two.
require 'fileutils'
require 'socket'

FileUtils.mkdir_p('@{inbox}')
chance = Random.new(12)
LINES = Array.new(3) do
  ping = Array.new(40) { |i| [i * 250, chance.rand(7000), @{beams}].pack('L<L<L<') + Array.new(@{beams}) { 400 + chance.rand(900) }.pack('S<*') }
  (ping * (@{pings} / 40 + 1)).first(@{pings}).join
end

door = TCPServer.new('127.0.0.1', @{port})
loop do
  office = door.accept
  due = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  kept = []
  1.step do |number|
    break unless office.gets

    name = format('@{inbox}/%04d-@{survey}', number)
    File.binwrite(name, LINES[number % 3])
    kept << name
    File.delete(kept.shift) if kept.size > 2
    now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    due = [due + 1 / @{rate}, now].max
    sleep(due - now) if due > now
    office.write("#{name}\n")
  end
rescue SystemCallError
  next
ensure
  office&.close
end
