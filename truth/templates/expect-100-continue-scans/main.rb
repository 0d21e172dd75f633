# Sends the scanned letters of an insurance to its archive.
require 'json'
require 'net/http'
require 'stringio'
require 'zlib'

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

# A body that knows when it was first asked for.
class Letter < StringIO
  attr_reader :first_read

  def read(...)
    @first_read ||= now
    super
  end
end

class Uploader
  attr_reader :units, :busy, :spent

  def initialize
    @units = 0
    @busy = @spent = 0.0
  end

  def archive
    return @archive if @archive

    @archive = Net::HTTP.new('127.0.0.1', @{archive})
    @archive.continue_timeout = @{patience}
    @archive.keep_alive_timeout = 30
    @archive.start
  end

  def @{fn}(number, body)
    request = Net::HTTP::Put.new("/scans/#{number}", 'Content-Length' => body.bytesize.to_s, 'Content-Type' => 'image/tiff')
    request['Expect'] = '100-continue' if @{ask} == 1
    request.body_stream = Letter.new(body)
    line = archive
    start = now
    answer = line.request(request)
    @spent += request.body_stream.first_read - start
    raise "the archive says #{answer.code}" unless answer.code == '201'

    answer.body
  end

  def take(number, pages)
    start = now
    body = Zlib.deflate(pages, 6)
    sum = @{fn}(number, body)
    warn "scan #{number} is not what was sent" if sum.to_i(16) != Zlib.crc32(body)
    @busy += now - start
    @units += 1
  end
end

chance = Random.new(11)
pages = Array.new(8) { chance.bytes(@{kb} * 1000) + ' ' * 20_000 }
scans = SizedQueue.new(1)
finish = now + @{seconds}
uploaders = Array.new(@{workers}) { Uploader.new }
threads = uploaders.map do |uploader|
  Thread.new do
    while (number = scans.pop)
      uploader.take(number, pages[number % 8])
    end
  end
end
due = now
(1..).each do |number|
  due = [due + 1.0 / @{rate} / @{workers}, now].max
  sleep([due - now, 0].max)
  break if now > finish

  scans.push(number)
end
scans.close
threads.each(&:join)
sums = %i[units busy spent].map { |name| uploaders.sum(&name) }
File.write('@{report}', JSON.generate(units: sums[0], seconds: sums[1], culprit: sums[2]))
