# The control room: keeps each cabin's state, and sums it up now and then.
require 'json'
require 'socket'

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class ControlRoom
  attr_reader :units, :busy, :empty

  def initialize(port)
    @line = TCPSocket.new('127.0.0.1', port)
    @rest = String.new
    @cabins = Hash.new { |all, id| all[id] = { speed: 0.0, guests: 0, gusts: 0 } }
    @summaries = []
    @units = 0
    @busy = @empty = 0.0
    @due = now + @{due_ms} / 1000.0
  end

  # How many seconds there are until the summary.
  def patience
    ms = (@due - now) * 1000 + @{slack}
    [ms.floor.div(@{step}) * @{step} / 1000.0, 0].max
  end

  def @{fn}(finish)
    while now < finish
      start = now
      wait = patience
      ready = IO.select([@line], nil, nil, wait)
      came = now
      # A wait is nobody's time; looking for nothing is.
      if wait.positive? then start = came
      elsif ready.nil? then @empty += came - start
      end
      take if ready
      if now >= @due
        sum_up
        @due += @{due_ms} / 1000.0
      end
      @busy += now - start
    end
  end

  def take
    @rest << @line.read_nonblock(65_536)
    take_lines
    return if @{drained}.zero?
    return unless IO.select([@line], nil, nil, 0)
    @rest << @line.read_nonblock(65_536)
    take_lines
  rescue IO::WaitReadable
    nil
  end

  def take_lines
    while (text = @rest.slice!(/\A.*\n/))
      id, _, speed, guests, wind = text.split
      cabin = @cabins[id]
      cabin[:speed] = cabin[:speed] * 0.9 + speed.to_f * 0.1
      cabin[:guests] = guests.to_i
      cabin[:gusts] += wind.count('w')
      @units += 1
    end
  end

  def sum_up
    full = @cabins.values.sort_by { |cabin| -cabin[:guests] }.first(3)
    @summaries << JSON.generate(cabins: @cabins.size, fullest: full)
    @summaries.shift if @summaries.size > 20
  end
end

room = ControlRoom.new(@{port})
room.@{fn}(now + @{seconds})
File.write('@{report}', JSON.generate(units: room.units, seconds: room.busy, culprit: room.empty))
