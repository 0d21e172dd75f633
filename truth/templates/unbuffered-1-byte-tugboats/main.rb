# Which ship needs a tug: reads what the receiver on the mast has got, and keeps the ships' places.
require 'json'
require 'socket'

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Mast
  attr_reader :spent

  def initialize(path)
    @line = UNIXSocket.new(path)
    @came = String.new
    @spent = 0.0
  end

  # One message, or nil at the end of an answer.
  def @{fn}
    until (place = @came.index("\n"))
      @came << @line.readpartial(@{block})
    end
    text = @came.slice!(0..place).chomp
    text.empty? ? nil : text
  end

  def messages
    @line.syswrite("@{word}\n")
    start = now
    list = []
    while (text = @{fn})
      list << text
    end
    @spent += now - start
    list
  end

  # The guard's key.
  def key
    @line.syswrite("key\n")
    @line.sysread(1)
  end
end

def value(letter)
  code = letter.ord - 48
  code > 40 ? code - 8 : code
end

def decode(text)
  body = text.split(',')[5]
  bits = body[0, 12].each_char.map { |letter| value(letter) & 63 }
  [bits[1..5].sum { |six| six * 64 }, bits[6..].sum]
end

mast = Mast.new('@{work}/@{line}')
ships = {}
units = 0
busy = 0.0
began = now
while now - began < @{seconds}
  start = now
  mast.messages.each do |text|
    ship, place = decode(text)
    ships[ship] = place
  end
  mast.key if @{keyed} == 1 && (units % 5).zero?
  units += 1
  busy += now - start
  rest = began + units / @{rate}.0 - now
  sleep rest if rest.positive?
end
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: mast.spent, ships: ships.size))
