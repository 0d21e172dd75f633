require "socket"
require "digest"

# Each line has a thread; all who ask for an order wait for the same settlement.
class Order
  def initialize(hold)
    @due = Process.clock_gettime(Process::CLOCK_MONOTONIC) + hold
  end

  def wait
    left = @due - Process.clock_gettime(Process::CLOCK_MONOTONIC)
    sleep(left) if left > 0
  end
end

class Office
  def initialize
    @orders, @lock = {}, Mutex.new
  end

  def @{fn}(key)
    @lock.synchronize { @orders[key] ||= Order.new(@{hold} / 1000.0) }
  end

  def serve(line)
    line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (head = line.gets("\r\n\r\n"))
      key = head[%r{/(\d+) HTTP}, 1]
      seal = Digest::SHA1.hexdigest(line.read(head[/Content-Length: (\d+)/, 1].to_i))
      order = @{fn}(key)
      Thread.new do
        order.wait
        text = "taken #{key} #{seal}\n"
        line.write("HTTP/1.1 200 OK\r\nContent-Length: #{text.bytesize}\r\n\r\n#{text}")
      rescue SystemCallError, IOError
        nil
      end
    end
  rescue SystemCallError
    nil
  ensure
    line.close
  end
end

office = Office.new
server = TCPServer.new("127.0.0.1", @{port})
server.listen(128)
loop { Thread.new(server.accept) { |line| office.serve(line) } }
