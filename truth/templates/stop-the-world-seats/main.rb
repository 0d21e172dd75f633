# Books places in the trains of a museum railway; all trains of the season are in memory.
require 'socket'

Place = Struct.new(:coach, :number, :guest, :note)

class Season
  def initialize(trains)
    @trains = Array.new(trains) do |train|
      Array.new(@{places}) { |i| Place.new("coach #{i / 40}", i % 40, nil, "train #{train} place #{i} #{'x' * @{letters}}") }
    end
    @lock = Mutex.new
    @bookings = 0
  end

  def book(request)
    place = @lock.synchronize do
      train = @trains[request * 31 % @trains.size]
      found = choose(train, request)
      found ? found.guest = "guest #{request}" : train.each { |one| one.guest = nil }
      @bookings += 1
      found
    end
    @{fn}
    place ? "#{place.coach} place #{place.number}" : 'full'
  end

  # By the window, and not beside somebody.
  def choose(train, request)
    best = nil
    (@{looks} / 3 + 1).times do |turn|
      free = train.reject(&:guest)
      best = free.min_by { |place| (place.number + turn + request) % 11 }
    end
    best
  end

  # The plans of the booking before are not needed any more.
  def @{fn}
    GC.start if @{every}.positive? && (@bookings % [@{every}, 1].max).zero?
  end
end

season = Season.new(@{held})
GC.start
door = TCPServer.new('127.0.0.1', @{port})
loop do
  Thread.new(door.accept) do |counter|
    counter.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (line = counter.gets)
      counter.write("#{season.book(line.split.last.to_i)}\n")
    end
  rescue SystemCallError, IOError
    # The counter has closed.
  ensure
    counter.close
  end
end
