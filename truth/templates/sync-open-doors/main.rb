# Entrance control: a reader sends a badge's number, and gets whether the door opens. What was asked and decided is logged.
require 'socket'
require 'time'

class Journal
  FILLER = 'zone=north level=2 ' * 60

  def initialize
    mode = File::WRONLY | File::CREAT | File::APPEND
    mode |= File::SYNC unless '@{durable}' == 'keeper'
    @file = File.open('@{work}/@{log}', mode, 0o600)
    @lines = Queue.new
    Thread.new { keep } unless '@{durable}' == 'line'
  end

  def @{fn}(door, step, badge)
    line = "#{Time.now.iso8601(6)} door=#{door} step=#{step} #{badge} #{FILLER}"[0, @{bytes}] + "\n"
    if '@{durable}' == 'collected'
      @lines << line
    else
      @file.syswrite(line)
    end
  end

  private

  def keep
    loop do
      sleep @{pace}
      if '@{durable}' == 'keeper'
        @file.fsync
      else
        @file.syswrite(Array.new(@lines.size) { @lines.pop }.join)
      end
    end
  end
end

def allowed?(badge) = badge.sum % 7 != 0

journal = Journal.new
listener = TCPServer.new('127.0.0.1', @{port})
door = 0
loop do
  Thread.new(listener.accept, door += 1) do |reader, number|
    reader.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (badge = reader.gets&.chomp)
      @{lines}.times { |step| journal.@{fn}(number, step, badge) }
      reader.write("#{badge} #{allowed?(badge) ? 'open' : 'refused'}\n")
    end
  rescue SystemCallError
    nil
  ensure
    reader.close
  end
end
