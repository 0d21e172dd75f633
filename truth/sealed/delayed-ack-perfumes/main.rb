# Mixes perfumes: works out what a customer's recipe needs, and has it dispensed, dose by dose.
require 'json'
require 'socket'

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Dispenser
  def initialize(port)
    @line = TCPSocket.new('127.0.0.1', port)
    @line.setsockopt(:TCP, :NODELAY, true) if @{now} == 1
    @number = 0
  end

  def @{fn}(essence, drops, note)
    @number += 1
    text = "#{essence};#{drops};#{note}"
    head = [@number, text.bytesize].pack('NN')
    if @{together} == 1
      @line.write(head + text)
    else
      @line.write(head)
      @line.write(text)
    end
    number, length = @line.read(8).unpack('NN')
    raise 'an answer to another dose' if number != @number

    @line.read(length)
  end
end

# The n-th dose of a recipe: the drops follow from how volatile the essences are.
def dose(recipe, nth)
  volatility = (1..600).sum { |i| Math.exp(-i / (10.0 + recipe % 17)) * Math.cos(nth * i) }
  ["essence#{(recipe * 5 + nth) % @{essences}}", 3 + (volatility * 7).abs.to_i % 40, 'warm ' * (@{note} / 5)]
end

dispenser = Dispenser.new(@{port})
units = 0
busy = spent = 0.0
last = nil
began = now
while now - began < @{seconds}
  start = now
  @{doses}.times do |nth|
    wanted = dose(units, nth)
    asked = now
    last = dispenser.@{fn}(*wanted)
    spent += now - asked
  end
  units += 1
  busy += now - start
  rest = began + units / @{rate}.to_f - now
  sleep rest if rest > 0
end
warn "#{units} recipes; #{last}"
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: spent))
