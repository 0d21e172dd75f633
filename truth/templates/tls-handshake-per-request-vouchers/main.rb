# Redeems vouchers at the box offices of a theatre.
require 'digest'
require 'json'
require 'net/http'
require 'openssl'

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

# What one box office needs to ask the partner.
class Line
  attr_reader :spent

  def initialize(store)
    @store = store
    @spent = 0.0
  end

  def @{fn}
    return @http if @http&.started? && now - @made < @{life}

    @http.finish if @http&.started?
    @http = Net::HTTP.new('127.0.0.1', @{partner})
    @http.use_ssl = true
    @http.cert_store = @store
    @http.keep_alive_timeout = 30
    @made = now
    @http.start
    @spent += now - @made
    @http
  end

  def look(number)
    answer = @{fn}.get("/vouchers/#{number}")
    raise "the partner says #{answer.code}" unless answer.code == '200'

    JSON.parse(answer.body)
  end
end

def ticket(voucher)
  text = "#{voucher['voucher']} #{voucher['valid'] ? 'valid' : 'used'} #{voucher['text']}"
  (@{rounds} * 4).times { text = "#{Digest::SHA256.hexdigest(text)}#{text}"[0, 900] }
  text
end

store = OpenSSL::X509::Store.new
store.add_file('@{work}/partner.pem')
finish = now + @{seconds}
offices = Array.new(@{workers}) do |office|
  Thread.new do
    line = Line.new(store)
    units = 0
    busy = 0.0
    due = now
    while now < finish
      due = [due + 1.0 / @{rate}, now].max
      sleep([due - now, 0].max)
      start = now
      ticket(line.look(office * 100_000 + units))
      busy += now - start
      units += 1
    end
    [units, busy, line.spent]
  end
end
units, busy, spent = offices.map(&:value).transpose.map(&:sum)
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: spent))
puts "#{units} vouchers redeemed"
