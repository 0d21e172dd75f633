# The office of a sled dog race: when will a team be at the checkpoints that are ahead of it?
require "json"
require "socket"

Leg = Struct.new(:name, :miles, :climb)
LEGS = Array.new(@{legs}) { |n| Leg.new("cp#{n}", 6 + n * 37 % 19, n * 53 % 700) }

class Journal
  def initialize(path)
    @file = File.open(path, "a")
    @pending, @lock = [], Mutex.new
    Thread.new { every_second }
  end

  def @{fn}(lines)
    @file.write(lines.join)
    @file.fdatasync
  end

  def add(lines)
    return @lock.synchronize { @pending.concat(lines) } if @{group} == 0
    lines.each_slice(@{group}) { |some| @{fn}(some) }
  end

  def every_second
    loop do
      sleep 1
      lines = @lock.synchronize { now, @pending = @pending, []; now }
      @{fn}(lines) unless lines.empty?
    end
  end
end

def pace(team, leg, trail)
  tired = 1 + 0.004 * leg + 0.1 * Math.sin(team * 0.7 + leg * 0.3)
  (trail.miles / 8.5 + trail.climb / 2200.0) * tired
end

def estimates(team)
  hours = 0.0
  LEGS.each_with_index.map do |trail, leg|
    hours += pace(team, leg, trail)
    hours += 4 if leg % 12 == 11
    { checkpoint: trail.name, at: hours.round(2) }
  end
end

def serve(client, journal)
  client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  while (line = client.gets)
    while (head = client.gets) && head != "\r\n"; end
    team = line[%r{/teams/(\d+)}, 1].to_i
    list = estimates(team % 60)
    journal.add(list.map { |one| "#{team} #{one[:checkpoint]} #{one[:at]}\n" })
    body = JSON.generate(team: team, list: list)
    client.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}")
  end
rescue SystemCallError
  nil
ensure
  client.close
end

journal = Journal.new("@{work}/@{journal}")
door = TCPServer.new("127.0.0.1", @{port})
loop do
  Thread.new(door.accept) { |client| serve(client, journal) }
end
