# Hands returned goods over to a courier: each clerk registers what has come in, and books its transport.
require "digest"
require "json"
require "logger"
require "net/http"

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

Return = Struct.new(:number, :depot, :parcels, :grade, :tries, :due)

class Clerk
  AGAIN = @{again}
  attr_reader :units, :busy, :repeated

  def initialize(number, log)
    @number, @log = number, log
    @units, @busy, @repeated = 0, 0.0, 0.0
    @later = []
    @courier = Net::HTTP.start("127.0.0.1", @{port})
  end

  # How good the goods still are, by what is written on the slip.
  def register(number)
    slip = "return #{number}"
    grade = 0
    @{rounds}.times do |i|
      slip = Digest::MD5.hexdigest(slip + i.to_s)
      grade += slip[0, 2].hex
    end
    Return.new(number, number % 4, 1 + number % 9, grade % 5, 0, 0.0)
  end

  def @{fn}(one)
    request = Net::HTTP::Put.new("/@{topic}/#{one.number}", "Content-Type" => "application/json")
    request.body = JSON.generate(number: one.number, depot: one.depot, parcels: one.parcels, grade: one.grade)
    @courier.request(request).is_a?(Net::HTTPCreated)
  end

  def book(one)
    start = clock
    taken = @{fn}(one)
    first = clock
    AGAIN.times do
      break if taken
      taken = @{fn}(one)
    end
    @repeated += clock - first
    @busy += clock - start
    if taken
      @units += 1
      @log.info("clerk #{@number}: return #{one.number}, grade #{one.grade}, goes from depot #{one.depot}")
    else
      one.due = clock + [2, @{first} * 1.6**one.tries].min * (0.8 + rand * 0.4)
      one.tries += 1
      @later << one
    end
  end

  def work(finish)
    began = clock
    count = 0
    while clock < finish
      due, @later = @later.partition { |one| one.due <= clock }
      due.each { |one| book(one) }
      start = clock
      one = register(count * @{workers} + @number)
      @busy += clock - start
      book(one)
      count += 1
      rest = began + count / @{rate} - clock
      sleep(rest) if rest > 0
    end
  end
end

# The list on the screen by the gate.
def watch(pause)
  Net::HTTP.start("127.0.0.1", @{port}) do |courier|
    loop do
      JSON.parse(courier.get("/@{topic}/today").body)["booked"]
      sleep(pause)
    end
  end
end

log = Logger.new("@{work}/returns.log")
finish = clock + @{seconds}
Thread.new { watch(@{board} / 1000.0) } if @{board} > 0
clerks = Array.new(@{workers}) { |number| Clerk.new(number, log) }
clerks.map { |clerk| Thread.new { clerk.work(finish) } }.each(&:join)
File.write("@{report}", JSON.generate(units: clerks.sum(&:units), seconds: clerks.sum(&:busy), culprit: clerks.sum(&:repeated)))
