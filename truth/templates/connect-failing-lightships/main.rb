# The recorder of the lightships: each watch's entry is put together, summed, and handed to the archivist; entries that it does not take are kept for later.
require 'digest'
require 'json'
require 'socket'

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Recorder
  ARCHIVISTS = ['@{work}/@{first}', '@{work}/@{socket}'].freeze
  attr_reader :spent, :later

  def initialize
    @later = []
    @spent = 0.0
    @handed = 0
  end

  def @{fn}
    tries = 0
    begin
      @line ||= UNIXSocket.new(ARCHIVISTS[tries % 2])
    rescue Errno::ECONNREFUSED, Errno::ENOENT
      tries += 1
      retry if tries < @{tries} * 2
    end
    @line
  end

  def hand(entry)
    start = now
    line = @{fn}
    @spent += now - start
    unless line
      @later << entry
      @later.shift if @later.size > 200
      return
    end
    line.write("#{entry}\n")
    line.gets
    @handed += 1
    return unless (@handed % @{renew}).zero?

    line.close
    @line = nil
  end
end

# What the watch noted: light, fog signal, and ships in sight.
def entry(watch)
  sights = Array.new(@{fields}) { |i| "sight#{i}=#{(watch * 31 + i * 17) % 360}" }
  text = "watch=#{watch} ship=#{watch % 7} #{sights.join(' ')}"
  "#{text} sum=#{Digest::SHA256.hexdigest(text)}"
end

recorder = Recorder.new
units = 0
busy = 0.0
began = now
while now - began < @{seconds}
  start = now
  recorder.hand(entry(units))
  units += 1
  busy += now - start
  rest = began + units / @{rate}.to_f - now
  sleep rest if rest > 0
end
warn "#{units} entries, #{recorder.later.size} wait"
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: recorder.spent))
