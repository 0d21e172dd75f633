# Play-out of a radio station: takes the studio's programmes, keeps them in the archive, and tells receivers what is on air.
require 'digest'
require 'socket'
require 'zlib'

Programme = Struct.new(:number, :title, :bytes)

class Archive
  attr_reader :kept

  def initialize
    @kept = 0
    @shelf = Queue.new
    Thread.new { loop { @{fn}(*@shelf.pop) } } if '@{place}' == 'aside'
  end

  def take(programme, sound)
    '@{place}' == 'here' ? @{fn}(programme, sound) : @shelf << [programme, sound]
  end

  def @{fn}(programme, sound)
    packed = Zlib.gzip(sound, level: 7)
    File.binwrite("@{work}/@{archive}/#{programme.number % 4}.gz", packed)
    @kept += 1
  end
end

class Studio
  def initialize(line, playout)
    @line = line
    @playout = playout
    @text = String.new(capacity: 1 << 20)
    @head = nil
  end

  def to_io = @line

  def ready
    @text << @line.read_nonblock(262_144)
    loop do
      unless @head
        line = @text.slice!(/\A[^\n]*\n/n) or break
        _, number, bytes, title = line.chomp.split(' ', 4)
        @head = Programme.new(number.to_i, title, bytes.to_i)
      end
      break if @text.bytesize < @head.bytes

      @playout.finished(@head, @text.slice!(0, @head.bytes))
      @head = nil
    end
    true
  rescue IO::WaitReadable
    true
  rescue EOFError, SystemCallError
    @line.close
    false
  end
end

class Receiver
  def initialize(line, playout)
    @line = line
    @playout = playout
  end

  def to_io = @line

  def ready
    @line.readpartial(4096).each_line { |line| @line.write(@playout.on_air(line.split[1])) }
    true
  rescue EOFError, SystemCallError
    @line.close
    false
  end
end

class Playout
  def initialize
    @archive = Archive.new
    @title = 'Test Tone'
    @doors = { UNIXServer.new('@{work}/@{sock}') => Studio, TCPServer.new('127.0.0.1', @{port}) => Receiver }
    @guests = []
  end

  def finished(programme, sound)
    @title = programme.title
    @archive.take(programme, sound)
  end

  def on_air(number)
    ticket = "#{@title} #{number}"
    120.times { ticket = Digest::SHA1.hexdigest(ticket) }
    "#{number} #{ticket[0, 12]} #{@archive.kept} #{@title}\n"
  end

  def run
    loop do
      ready, = IO.select(@doors.keys + @guests)
      ready.each do |one|
        kind = @doors[one]
        if kind
          guest = one.accept
          guest.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1) if kind == Receiver
          @guests << kind.new(guest, self)
        else
          @guests.delete(one) unless one.ready
        end
      end
    end
  end
end

Playout.new.run
