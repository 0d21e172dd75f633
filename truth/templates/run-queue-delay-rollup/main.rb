# Reserves rooms: a thread for each client, and what was reserved is counted again by jobs that are forked when it starts.
require "digest"
require "socket"

def @{fn}(room)
  at, free = room + 1, []
  (@{work_ms} * 14000).times do |night|
    at = at * 16807 % 2147483647
    free << night if at & 4095 == 0
  end
  free
end

def @{fn2}(region)
  sums = Hash.new(0)
  50_000.times do |number|
    key = Digest::SHA1.hexdigest("#{region}/#{number}")
    sums[key[0, 3]] += key[3, 4].hex
  end
  sums
end

def serve(client)
  client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  while (ask = client.gets)
    while (head = client.gets)
      break if head.strip.empty?
    end
    text = "{\"free\":#{@{fn}(ask[%r{/rooms/(\d+)}, 1].to_i)}}"
    client.write("HTTP/1.1 200 OK\r\nContent-Length: #{text.size}\r\n\r\n#{text}")
  end
rescue Errno::ECONNRESET, Errno::EPIPE
  nil
ensure
  client.close
end

@{jobs}.times do |region|
  fork do
    Process.setproctitle("@{helper}")
    Process.setpriority(Process::PRIO_PROCESS, 0, @{nice})
    loop { @{fn2}(region) }
  end
end
server = TCPServer.new("127.0.0.1", @{port})
server.listen(128)
loop { Thread.new(server.accept) { |client| serve(client) } }
