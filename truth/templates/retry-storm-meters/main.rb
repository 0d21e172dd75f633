# The exchange of the taxis: for each ride the authority says what it may cost. A thread for each taxi, with a socket of its own.
require 'json'
require 'socket'

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Taxi
  attr_reader :units, :busy, :again

  def initialize(number)
    @number = number
    @chance = Random.new(number)
    @line = UDPSocket.new
    @line.connect('127.0.0.1', @{port})
    @units = 0
    @busy = @again = 0.0
  end

  # What the ride may cost, in cents.
  def @{fn}(ride, question)
    patience = @{patience} / 1000.0
    repeated = nil
    loop do
      @line.send(question, 0)
      stop = clock + patience
      while (left = stop - clock) > 0 && @line.wait_readable(left)
        taxi, of, cents = @line.recv(256).split.map(&:to_i)
        next unless taxi == @number && of == ride

        @again += clock - repeated if repeated
        return cents
      end
      repeated ||= clock
      patience *= @{growth}
    end
  rescue Errno::ECONNREFUSED
    sleep 0.02
    retry
  end

  def work
    begin_at = due = clock
    ride = 0
    while clock - begin_at < @{seconds}
      question = format('%d %d %d %d %s', @number, ride += 1, @chance.rand(@{zones}), @chance.rand(@{zones}), 'ride ' * (@{text} / 5 + 1))
      @{asked}.times do
        start = clock
        @{fn}(ride, question)
        @busy += clock - start
        @units += 1
        due = [due + 1 / @{rate}.to_f, clock].max
        sleep(due - clock) if due > clock
      end
    end
  end
end

taxis = Array.new(@{taxis}) { |number| Taxi.new(number + 1) }
taxis.map { |taxi| Thread.new { taxi.work } }.each(&:join)
report = { units: taxis.sum(&:units), seconds: taxis.sum(&:busy), culprit: taxis.sum(&:again) }
File.write('@{report}', JSON.generate(report))
