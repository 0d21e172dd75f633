# A directory of podcasts: readers take show after show, fetch its episodes from its station, and keep what is new.
require 'digest'
require 'json'
require 'net/http'
require 'socket'

STATIONS = { city: @{city}, hills: @{hills}, coast: @{coast} }.freeze
LIMIT = @{limit}

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Reader
  attr_reader :units, :busy, :lost, :since

  def initialize
    @lines = {}
    @units = 0
    @busy = @lost = 0.0
  end

  def line(station)
    @lines[station] ||= Net::HTTP.new('127.0.0.1', STATIONS[station]).tap do |http|
      http.open_timeout = 2
      http.read_timeout = LIMIT.positive? ? LIMIT : nil
      http.max_retries = 0
      http.keep_alive_timeout = 60
      http.start
    end
  end

  def @{fn}(station, show)
    began = now
    line(station).get("/shows/#{show}").body
  rescue Net::ReadTimeout
    @lost += now - began
    @lines.delete(station)
    nil
  end

  # An episode is known by its title without marks, and told in minutes.
  def entries(text)
    text.each_line(chomp: true).map do |row|
      date, seconds, title = row.split("\t")
      minutes, rest = seconds.to_i.divmod(60)
      [Digest::SHA256.hexdigest(title.downcase.gsub(/[^a-z0-9]+/, '-')), format('%s %d:%02d %s', date, minutes, rest, title)]
    end
  end

  def take(number, directory)
    @since = now
    text = @{fn}(STATIONS.keys[number % 3], number)
    directory.merge!(entries(text).to_h) if text
    @busy += now - @since
    @since = nil
    @units += 1
  end

  def pending = @since ? now - @since : 0.0
end

def open_office(directory)
  door = UNIXServer.new('@{work}/@{door}')
  Thread.new { loop { door.accept.tap { |editor| editor.puts(directory.size) }.close } }
end

directory = {}
shows = Queue.new
readers = Array.new(@{readers}) { Reader.new }
open_office(directory) if @{office} == 1
begun = now
readers.each { |reader| Thread.new { loop { reader.take(shows.pop, directory) } } }
number = 0
while now - begun < @{seconds}
  shows << number
  number += 1
  sleep [0, begun + number / @{rate} - now].max
end
hanging = readers.sum(&:pending)
File.write('@{report}', JSON.generate(units: readers.sum(&:units), seconds: readers.sum(&:busy) + hanging, culprit: readers.sum(&:lost) + hanging))
exit!(true)
