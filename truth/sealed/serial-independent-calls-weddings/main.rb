# An office for weddings: makes the offers for the enquiries of its mailbox.
require "json"
require "net/http"
require "socket"

HOUSES = %w[venue kitchen band flowers pictures cars].each_with_index.to_h { |name, i| [name, "127.0.@{net}.#{11 + i}"] }

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Supplier
  attr_reader :name

  def initialize(name, host)
    @name = name
    @http = Net::HTTP.new(host, @{desk})
    @http.keep_alive_timeout = 60
    @http.start
  end

  def on(day)
    JSON.parse(@http.get("/#{name}/days/#{day}").body, symbolize_names: true)
  end
end

class Planner
  attr_reader :units, :busy, :asking

  def initialize
    @suppliers = HOUSES.map { |name, host| Supplier.new(name, host) }
    @units = 0
    @busy = @asking = 0.0
  end

  def @{fn}(day)
    case "@{order}"
    when "once"
      @suppliers.map { |supplier| Thread.new { supplier.on(day) } }.map(&:value)
    when "agree"
      @suppliers.map { |supplier| supplier.on(day).tap { |answer| day = answer[:day] } }
    else
      @suppliers.map { |supplier| supplier.on(day) }
    end
  end

  def offer(enquiry)
    _, number, day, guests = enquiry.split
    start = clock
    answers = @{fn}(day.to_i)
    @asking += clock - start
    price = answers.sum { |answer| answer[:price] } + guests.to_i * 92
    "offer #{number} #{price} #{answers.all? { |answer| answer[:free] } ? 'complete' : 'in part'}\n"
  end

  def work(until_then)
    TCPSocket.open("127.0.0.1", @{mailbox}) do |mailbox|
      mailbox.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
      while clock < until_then && (enquiry = mailbox.gets)
        start = clock
        mailbox.write(offer(enquiry))
        @units += 1
        @busy += clock - start
      end
    end
    self
  end
end

until_then = clock + @{seconds}
planners = Array.new(@{planners}) { Thread.new { Planner.new.work(until_then) } }.map(&:value)
File.write("@{report}", JSON.generate(units: planners.sum(&:units), seconds: planners.sum(&:busy), culprit: planners.sum(&:asking)))
