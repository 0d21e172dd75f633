# Serves curves that were read off old strips of paper. "asked N": what the strips of some stations say of a day;
# "copied N": the next strips. An answer is a line.
require "socket"

STRIP = @{kb} * 1024
EACH = (@{strips} + @{part} - 1) / @{part}

class Curves
  def initialize(path)
    @file = File.open(path, "rb")
    @count = @file.size / STRIP
  end

  def warm
    part = String.new(capacity: 1 << 20)
    nil while @file.sysread(1 << 20, part)
  rescue EOFError
    nil
  end

  def @{fn}(number, paper)
    @file.pread(STRIP, number % @count * STRIP, paper)
  end

  def scale(number, paper)
    @{fn}(number, paper)
    (0...STRIP).step(512).map { |at| paper.getbyte(at) }.minmax
  end

  def asked(number, paper)
    chance = Random.new(number * 31 + Process.pid)
    all = Array.new(@{strips}) { scale(chance.rand(1 << 40), paper) }
    all.transpose.map { |values| values.sum / @{strips}.0 }
  end

  def copied(number, paper)
    (0...EACH).map { |i| scale(number * EACH + i, paper) }.last
  end
end

def serve(curves, caller)
  caller.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  paper = String.new(capacity: STRIP)
  while (line = caller.gets)
    word, number = line.split
    low, high = word == "asked" ? curves.asked(number.to_i, paper) : curves.copied(number.to_i, paper)
    caller.write(format("%s %.1f %.1f\n", number, low, high))
  end
rescue SystemCallError
  nil
ensure
  caller.close
end

curves = Curves.new("@{work}/@{curves}")
File.write("/sys/fs/cgroup/memory/@{slice}/cgroup.procs", Process.pid.to_s)
curves.warm if "@{way}" == "asked"
door = TCPServer.new("127.0.0.1", @{port})
loop { Thread.new(door.accept) { |caller| serve(curves, caller) } }
