require "socket"
require "digest"

# What we know of a bay: its last temperatures, and the level at which its device stands.
class Bay
  attr_reader :level

  def initialize
    @seen = []
    @level = 0
  end

  def note(level, celsius)
    @level = level
    @seen << celsius
    @seen.shift if @seen.size > 120
  end

  def mean
    @seen.empty? ? 0.0 : @seen.sum.fdiv(@seen.size)
  end

  # The curve that the growers have agreed on, by hours.
  def wanted(hour)
    (0...24).map { |at| 16 + 6 * Math.sin((at - 9) / 24.0 * 6.283) }.fetch(hour % 24)
  end
end

# The controllers speak over UDP, in any order: a ticket says which answer is whose.
class Field
  def initialize
    @line = UDPSocket.new
    @line.connect("127.0.0.1", @{field})
    @answers = {}
    @lock = Mutex.new
    @came = ConditionVariable.new
    @ticket = 0
    Thread.new { loop { take(@line.recv(500)) } }
    Thread.new { tidy } if @{tidies} == 1
  end

  def take(text)
    ticket, _verb, _bay, level, celsius = text.split
    @lock.synchronize do
      @answers[ticket.to_i] = [level.to_i, celsius.to_i, Time.now]
      @came.broadcast
    end
  end

  def order(verb, bay, level)
    ticket = @lock.synchronize { @ticket += 1 }
    @line.send("#{ticket} #{verb} #{bay} #{level}", 0)
    ticket
  end

  def @{fn}(ticket)
    if @{asks} == 1
      loop do
        answer = @lock.synchronize { @answers.delete(ticket) }
        return answer if answer
        sleep @{period} / 1000.0
      end
    end
    @lock.synchronize do
      @came.wait(@lock, 5) until @answers.key?(ticket)
      @answers.delete(ticket)
    end
  end

  # Answers that nobody has fetched.
  def tidy
    loop do
      sleep @{tidy} / 1000.0
      @lock.synchronize { @answers.delete_if { |_, answer| Time.now - answer[2] > 30 } }
    end
  end
end

field = Field.new
bays = Array.new(@{bays}) { Bay.new }
guard = Mutex.new
server = TCPServer.new("127.0.0.1", @{port})
loop do
  Thread.new(server.accept) do |client|
    client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (ask = client.gets)
      verb, number = ask.split
      bay = number.to_i % bays.size
      level = (bays[bay].wanted(number.to_i) * 4).round
      level, celsius, = field.@{fn}(field.order(verb, bay, level))
      mean = guard.synchronize do
        bays[bay].note(level, celsius)
        bays[bay].mean
      end
      mark = Digest::MD5.hexdigest("#{verb}#{bay}#{level}")[0, 6]
      client.write("ok #{bay} #{level} #{format('%.1f', mean)} #{mark}\n")
    end
    client.close
  rescue SystemCallError
    client.close
  end
end
