# The box office of an arena: sells seats, and keeps the plan of the house ready as JSON for the screens at the entrances.
require 'json'

BLOCKS = @{blocks}
SEATS = 48

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class House
  attr_reader :blocks

  def initialize
    @blocks = Array.new(BLOCKS) do |block|
      seats = Array.new(SEATS) do |seat|
        { row: seat / 8, seat: seat, block: block, cents: 1900 + block % 9 * 500, sold: false, holder: nil, view: (seat % 7).zero? ? 'pillar' : 'full' }
      end
      { block: "block #{block}", gate: block % 12, seats: seats }
    end
  end

  # The price goes up with those around who have bought.
  def price(block, seat)
    seats = @blocks[block][:seats]
    one = seats[seat]
    near = 0.0
    14.times do |round|
      seats.each do |other|
        far = Math.hypot(other[:row] - one[:row], other[:seat] % 8 - seat % 8) + round / 10.0
        near += Math.exp(-far) if other[:sold]
      end
    end
    (one[:cents] * (1 + [near / 1400, 0.3].min)).round
  end

  def sell(block, seat, holder)
    cents = price(block, seat)
    @blocks[block][:seats][seat].update(sold: true, holder: holder, cents: cents)
    cents
  end

  def release(block, seat)
    @blocks[block][:seats][seat].update(sold: false, holder: nil)
    0
  end
end

class Screens
  attr_reader :seconds

  def initialize(house)
    @house = house
    @parts = house.blocks.map { |block| JSON.generate(block) }
    @seconds = 0.0
  end

  def @{fn}(block)
    began = now
    if '@{publish}' == 'plan'
      @plan = JSON.generate(@house.blocks)
    else
      @parts[block] = JSON.generate(@house.blocks[block])
    end
    @seconds += now - began
  end

  # What a screen is sent when it is switched on.
  def text = @plan || "[#{@parts.join(',')}]"
end

house = House.new
screens = Screens.new(house)
journal = File.open('@{work}/sales.csv', 'w')
units = 0
busy = 0.0
began = now
while now - began < @{seconds}
  start = now
  block = units * 37 % BLOCKS
  seat = units * 29 % SEATS
  cents = units % 11 == 10 ? house.release(block, seat) : house.sell(block, seat, "order #{100_000 + units}")
  screens.@{fn}(block)
  journal.puts "#{units};#{block};#{seat};#{cents}"
  busy += now - start
  units += 1
  rest = began + units / @{rate}.to_f - now
  sleep rest if rest.positive?
end
journal.puts "plan of #{screens.text.size} letters"
journal.close
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: screens.seconds))
