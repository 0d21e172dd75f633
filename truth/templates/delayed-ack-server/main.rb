require "socket"
require "digest"

# One loop serves all lines.
class Desk
  def initialize(port)
    @server = TCPServer.new("127.0.0.1", port)
    @lines = {}
  end

  def @{fn}(key)
    mark = key
    @{rounds}.times { mark = Digest::SHA1.digest(mark) }
    sleep(@{settle}) if @{settle} > 0
    text = mark.unpack1("H*")
    (text * (1 + @{bytes} / text.size))[0, @{bytes}]
  end

  def answer(line, card)
    if @{split} == 1
      line.syswrite("#{card.bytesize}\n")
      line.syswrite(card)
    else
      line.syswrite("#{card.bytesize}\n#{card}")
    end
  end

  def take(line)
    got = line.read_nonblock(4096, exception: false)
    return if got == :wait_readable
    return @lines.delete(line)&.clear && line.close if got.nil?
    (@lines[line] << got)
    while (ask = @lines[line].slice!(/\A[^\n]*\n/))
      answer(line, @{fn}(ask.chomp))
    end
  rescue SystemCallError
    @lines.delete(line)
    line.close
  end

  def run
    loop do
      ready, = IO.select([@server, *@lines.keys])
      ready.each { |io| io == @server ? @lines[@server.accept] = +"" : take(io) }
    end
  end
end

Desk.new(@{port}).run
