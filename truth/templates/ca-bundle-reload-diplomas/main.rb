# Takes diplomas of other universities in: whose seal is good, and what is in them.
require 'digest'
require 'json'
require 'openssl'

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Seals
  attr_reader :spent

  def initialize(path)
    @path = path
    @served = 0
    @spent = 0.0
  end

  def @{fn}
    start = now
    if (@served % @{fresh}).zero?
      @authorities = OpenSSL::X509::Store.new
      @authorities.add_file(@path)
    end
    @served += 1
    @spent += now - start
    @authorities
  end

  def good?(seal) = @{fn}.verify(OpenSSL::X509::Certificate.new(seal))
end

seal = File.read('@{work}/seal.pem')
seals = Seals.new('@{work}/@{bundle}')
units = 0
busy = 0.0
taken = Hash.new(0)
began = now
while now - began < @{seconds}
  start = now
  diploma = (1..@{pages}).map { |page| "#{units};#{page};law;#{(units + page) % 5}" }
  abort 'a bad seal' unless seals.good?(seal)
  taken[Digest::SHA256.hexdigest(diploma.join("\n"))[0]] += 1
  units += 1
  busy += now - start
  rest = start + 1.0 / @{per_s} - now
  sleep rest if rest.positive?
end
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: seals.spent))
