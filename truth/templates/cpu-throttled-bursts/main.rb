# Plans visits: workers are forked and accept from one socket. Each request is answered by one of them.
require "socket"

def join(group)
  File.write("/sys/fs/cgroup/cpu/#{group}/cgroup.procs", Process.pid.to_s)
end

def @{fn}(number)
  best, tour = nil, number
  (@{work_ms} * 16).times do |round|
    length = 0
    1300.times do |stop|
      tour = (tour * 16807 + stop) % 2147483647
      length += tour & 1023
    end
    best = [length, round] if best.nil? || length < best[0]
  end
  best
end

def serve(client)
  client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  while (ask = client.gets)
    while (head = client.gets)
      break if head.strip.empty?
    end
    length, round = @{fn}(ask[%r{/search/(\d+)}, 1].to_i)
    text = "{\"length\":#{length},\"round\":#{round}}"
    client.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: #{text.size}\r\n\r\n#{text}")
  end
rescue Errno::ECONNRESET, Errno::EPIPE
  nil
ensure
  client.close
end

join("@{slice}")
if @{batch} == 1
  fork do
    join("@{slice}-night")
    night = 0
    loop { @{fn}(night += 1) }
  end
end
server = TCPServer.new("127.0.0.1", @{port})
server.listen(128)
(@{clients} + 1).times do
  fork do
    loop { serve(server.accept) }
  end
end
Process.waitall
