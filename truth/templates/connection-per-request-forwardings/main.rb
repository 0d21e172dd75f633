require 'json'
require 'socket'

def clock
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

class Register
  attr_reader :through

  def initialize(host, port, stay)
    @host = host
    @port = port
    @stay = stay
    @through = 0.0
  end

  # Where does this person live now?
  def @{fn}(person)
    sign_on unless @line
    answer = say("who #{person}")
    sign_off unless @stay
    answer == '-' ? nil : answer
  end

  private

  def say(text)
    @line.write("#{text}\n")
    @line.gets.chomp
  end

  def sign_on
    start = clock
    @line = TCPSocket.new(@host, @port)
    @line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    @line.gets
    raise 'the register does not know us' unless say('depot @{depot}-@{key}') == 'welcome'

    @through += clock - start
  end

  def sign_off
    start = clock
    @line.close
    @line = nil
    @through += clock - start
  end
end

# The bars below the address: four states for each sign, and a sum.
def bars(address)
  signs = address.bytes.flat_map { |byte| [6, 4, 2, 0].map { |shift| "|'.,"[byte >> shift & 3] } }
  format('%s %02d', signs.join, address.sum % 97)
end

register = Register.new('127.0.0.1', @{register}, @{stay} == 1)
trays = Hash.new(0)
began = clock
letters = 0
busy = 0.0
while clock - began < @{seconds}
  start = clock
  person = letters * 7919 % 1_000_003
  address = register.@{fn}(person) || "#{person % 300 + 1} Old Road"
  trays[address.split(' ', 2).last] += bars(address).size
  letters += 1
  busy += clock - start
  rest = began + letters / @{rate} - clock
  sleep(rest) if rest.positive?
end
puts "#{letters} letters in #{trays.size} trays"
File.write('@{report}', JSON.dump(units: letters, seconds: busy, culprit: register.through))
