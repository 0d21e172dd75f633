require "openssl"

require "json"

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

def wait_until(due)
  rest = due - now
  sleep(rest) if rest > 0
end

def report(units, busy, culprit)
  File.write("@{report}", JSON.generate("units" => units, "seconds" => busy, "culprit" => culprit))
end

Letter = Struct.new(:to, :text)

module Sealing
  @kept = {}
  @time = 0.0

  class << self
    attr_accessor :time

    def @{fn}(to)
      start = now
      key = OpenSSL::KDF.pbkdf2_hmac("pass of #{to}", salt: "post", iterations: @{turns}, length: 32, hash: "sha256")
      @time += now - start
      key
    end

    def seal(letter)
      key = @{again} == 1 ? @{fn}(letter.to) : (@kept[letter.to] ||= @{fn}(letter.to))
      cipher = OpenSSL::Cipher.new("aes-256-gcm").encrypt
      cipher.key = key
      cipher.iv = "0123456789ab"
      cipher.update(letter.text) + cipher.final
    end
  end
end

people = %w[ada bert cleo]
people.each { |to| Sealing.seal(Letter.new(to, "-")) }
Sealing.time = 0.0
units = 0
busy = 0.0
began = now
while now - began < @{seconds}
  start = now
  Sealing.seal(Letter.new(people[units % people.size], "invoice #{units}"))
  units += 1
  busy += now - start
  wait_until(began + units / @{rate}.0)
end
report(units, busy, Sealing.time)
