# The till of a filling station: each filling is granted by the card bank, and booked.
require 'openssl'
require 'socket'
require 'json'

def clock
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

class Bank
  attr_reader :joining

  def initialize
    @context = OpenSSL::SSL::SSLContext.new
    @context.cert_store = OpenSSL::X509::Store.new.tap { |store| store.add_file('@{work}/bank.pem') }
    @context.verify_mode = OpenSSL::SSL::VERIFY_PEER
    @joining = 0.0
    @asked = 0
  end

  def @{fn}
    start = clock
    socket = TCPSocket.new('127.0.0.1', @{port})
    socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    @line = OpenSSL::SSL::SSLSocket.new(socket, @context)
    @line.sync_close = true
    @line.connect
    @joining += clock - start
  end

  def grant?(card, cents)
    @{fn} unless @line
    @line.write("GRANT #{card} #{cents}\n")
    answer = @line.gets or raise 'the bank hung up'
    if (@asked += 1) % @{hold} == 0
      @line.close
      @line = nil
    end
    answer.start_with?('GRANTED')
  end
end

# The last digit, by Luhn.
def sealed(digits)
  sum = digits.reverse.each_char.with_index.sum do |digit, at|
    twice = digit.to_i * (at.even? ? 2 : 1)
    twice > 9 ? twice - 9 : twice
  end
  digits + ((10 - sum % 10) % 10).to_s
end

bank = Bank.new
chance = Random.new(@{port})
booked = Hash.new(0)
receipts = []
units = 0
busy = 0.0
began = clock
while clock - began < @{seconds}
  pump = chance.rand(@{pumps})
  litres = chance.rand(500..7000) / 100.0
  card = sealed(format('70%012d', chance.rand(10**12)))
  start = clock
  cents = (litres * (169.9 + pump % 3 * 12)).round
  if bank.grant?(card, cents)
    booked[pump] += cents
    receipts << format('pump %2d  %6.2f l  %8.2f EUR  card ****%s', pump, litres, cents / 100.0, card[-4..])
    receipts.shift if receipts.size > 200
  end
  busy += clock - start
  units += 1
  rest = began + units / @{rate}.to_f - clock
  sleep(rest) if rest > 0
end
warn receipts.last
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: bank.joining))
