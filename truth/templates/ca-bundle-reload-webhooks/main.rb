# Tells the partners of a parcel service where each parcel is: a small POST to the host that the partner named.
require 'digest'
require 'json'
require 'logger'
require 'net/http'
require 'openssl'

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

HOST = 'hooks.example.net'
STATES = %w[announced received sorted loaded delivered].freeze

Partner = Struct.new(:address, :key, :accepted)

# The state of a parcel as partners are told it, with a seal that they can check.
class Notice
  def initialize(parcel)
    @parcel = parcel
  end

  def body
    stops = Array.new(@{lines}) do |stop|
      { depot: (@parcel * 17 + stop * 3) % 400, state: STATES[stop % STATES.size], minute: stop * 35 + @parcel % 60 }
    end
    JSON.generate(parcel: @parcel, state: STATES[@parcel % STATES.size], stops: stops)
  end

  def seal(key, text)
    @{effort}.times.reduce(text) { |mark, _| OpenSSL::HMAC.hexdigest('SHA256', key, mark + text) }
  end
end

class Notifier
  attr_reader :spent

  def initialize(log)
    @log = log
    @partners = Array.new(@{subscribers}) { |n| Partner.new("127.@{a}.@{b}.#{n + 1}", Digest::SHA256.hexdigest("partner #{n}"), 0) }
    @spent = 0.0
  end

  # Whom we trust.
  def @{fn}
    asked = now
    return @trusted if @trusted && asked - @read < @{keep}

    store = OpenSSL::X509::Store.new
    store.add_file('@{work}/@{bundle}')
    @read = asked
    @trusted = store
  end

  def line_to(partner)
    line = Net::HTTP.new(HOST, @{port})
    line.ipaddr = partner.address
    line.use_ssl = true
    line.verify_mode = OpenSSL::SSL::VERIFY_PEER
    asked = now
    line.cert_store = @{fn}
    @spent += now - asked
    line.open_timeout = line.read_timeout = 10
    line
  end

  def tell(parcel)
    partner = @partners[parcel % @partners.size]
    notice = Notice.new(parcel)
    body = notice.body
    head = { 'Content-Type' => 'application/json', 'X-Seal' => notice.seal(partner.key, body) }
    answer = line_to(partner).start { |line| line.post('/parcels', body, head) }
    partner.accepted += 1 if answer.code == '202'
    @log.info("parcel #{parcel} to #{partner.address}: #{answer.code}")
  end

  def summary
    @partners.select { |partner| partner.accepted.positive? }.map { |partner| "#{partner.address}: #{partner.accepted}" }.join(', ')
  end
end

log = Logger.new('@{work}/notices.log')
notifier = Notifier.new(log)
notifier.@{fn}
units = 0
busy = 0.0
finish = now + @{seconds}
due = now
while now < finish
  due = [due + 1.0 / @{rate}, now].max
  sleep([due - now, 0].max)
  start = now
  notifier.tell(units)
  busy += now - start
  units += 1
end
log.info(notifier.summary)
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: notifier.spent))
