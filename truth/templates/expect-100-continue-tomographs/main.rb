# Hands the slices of tomographs to the archive: some senders, each with a patient of its own.
require "json"
require "net/http"
require "zlib"

def clock
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

class Sender
  attr_reader :units, :busy, :waited

  def initialize(patient)
    @patient, @units, @busy, @waited = patient, 0, 0.0, 0.0
    @http = Net::HTTP.new("127.0.0.1", @{port})
    @http.continue_timeout = @{patience} if "@{ask}" == "yes"
    @http.keep_alive_timeout = 30
    @row = Array.new(512) { |x| ((65_536 - (x - 256)**2) >> 8) % 256 }.pack("C*")
  end

  # A strip that is denser towards its middle.
  def slice(number)
    points = @row * (@{size} * 1000 / 512 + 1)
    points.setbyte(number % 512, @patient % 256)
    points.byteslice(0, @{size} * 1000)
  end

  def @{fn}(number, points)
    headers = { "Content-Type" => "application/dicom" }
    headers["Expect"] = "100-continue" if "@{ask}" == "yes"
    start = clock
    answer = @http.put("/patients/#{@patient}/slices/#{number}", points, headers)
    # All but the hundredth second or so is the wait for the word to go on.
    @waited += [clock - start, @{patience}].min if "@{ask}" == "yes" && clock - start >= @{patience}
    raise "archive has #{answer.body}" unless answer.body == format("%08x", Zlib.crc32(points))
  end

  def work(finish)
    @http.start
    began = clock
    while clock < finish
      start = clock
      @{fn}(@units, slice(@units))
      @units += 1
      @busy += clock - start
      sleep([began + @units / @{rate}.to_f - clock, 0].max)
    end
    @http.finish
  end
end

finish = clock + @{seconds}
senders = Array.new(@{senders}) { |i| Sender.new(1000 + i * 37) }
senders.map { |sender| Thread.new { sender.work(finish) } }.each(&:join)
File.write("@{report}", JSON.generate("units" => senders.sum(&:units), "seconds" => senders.sum(&:busy), "culprit" => senders.sum(&:waited)))
