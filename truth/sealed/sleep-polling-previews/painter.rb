# Paints previews, one at a time. A question: the page (4 bytes). An answer: its length (4), the picture.
require 'socket'

Job = Struct.new(:page, :done)
JOBS = Queue.new
LOOK = @{look} / 1000.0
REFRESH = @{refresh} / 1000.0

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

def paint(page)
  start = clock
  picture = page.to_s * 8
  picture = picture.succ.reverse while clock - start < @{effort} / 1000.0
  picture.ljust(@{bytes}, '.')[0, @{bytes}]
end

def @{fn}
  return JOBS.pop if LOOK.zero?

  loop do
    sleep LOOK
    return JOBS.pop unless JOBS.empty?
  end
end

Thread.new do
  Thread.current.name = 'painter'
  loop do
    job = @{fn}
    batch = [job]
    batch << JOBS.pop until JOBS.empty?
    batch.each { |one| one.done << paint(one.page) }
  end
end

if REFRESH.positive?
  Thread.new do
    Thread.current.name = 'fonts'
    loop do
      sleep REFRESH
      Dir.exist?('@{work}/fonts')
    end
  end
end

door = UNIXServer.new('@{work}/@{sock}')
loop do
  Thread.new(door.accept) do |desk|
    done = Queue.new
    while (frame = desk.read(4))
      JOBS << Job.new(frame.unpack1('N'), done)
      picture = done.pop
      desk.write([picture.bytesize].pack('N') + picture)
    end
  rescue SystemCallError
    desk.close
  end
end
