# Scores mail: by its words, and by whether a blocklist knows the host that sent it.
require "digest"
require "json"
require "resolv"

LISTS = ["@{first}", "@{closed}"].freeze
WEIGHTS = { "invoice" => 0.4, "prize" => 2.1, "meeting" => -1.2, "crypto" => 1.7, "regards" => -0.6, "urgent" => 1.1 }.freeze
Mail = Struct.new(:number, :sender, :text)

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

class Blocklists
  def initialize
    @names = Resolv::DNS.new(nameserver_port: [["@{ns}", 53]], search: [], ndots: 1)
    @names.timeouts = [@{patience_ms} / 1000.0] * 2
  end

  def @{fn}(sender)
    name = sender.reverse.join(".")
    LISTS.count do |list|
      found = @names.getresource(Resolv::DNS::Name.create("#{name}.#{list}."), Resolv::DNS::Resource::IN::A)
      found.address.to_s.start_with?("127.")
    rescue Resolv::ResolvError
      false
    end
  end
end

class Filter
  attr_reader :units, :busy, :looking

  def initialize
    @lists = Blocklists.new
    @units = 0
    @busy = @looking = 0.0
    @seen = {}
  end

  def run(mails)
    while (mail = mails.pop)
      start = now
      hits = @lists.@{fn}(mail.sender)
      @looking += now - start
      score = hits * 3 + mail.text.split.sum { |word| WEIGHTS[word] } / 100
      @seen[Digest::SHA256.hexdigest(mail.text)] = score > 3 ? :junk : :inbox
      @units += 1
      @busy += now - start
    end
  end
end

def mail(number)
  words = WEIGHTS.keys
  text = Array.new(400) { |i| words[(i * number + (i >> 3)) % words.size] }.join(" ")
  Mail.new(number, [198, 18 + (number & 1), number >> 8 & 255, number & 255], text)
end

mails = SizedQueue.new(8)
filters = Array.new(@{filters}) { Filter.new }
threads = filters.map { |filter| Thread.new { filter.run(mails) } }
number = 0
began = now
while now - began < @{seconds}
  if mails.size < 8
    mails << mail(number += 1)
    rest = began + number / @{rate}.0 - now
    sleep(rest) if rest.positive?
  else
    sleep(0.2)
  end
end
mails.clear
mails.close
threads.each(&:join)
report = { units: filters.sum(&:units), seconds: filters.sum(&:busy), culprit: filters.sum(&:looking) }
File.write("@{report}", JSON.generate(report))
