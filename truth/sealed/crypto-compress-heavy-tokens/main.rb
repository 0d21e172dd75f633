# Tells customers what they have used: each has a key, of which only the stretched form is stored.
require 'openssl'
require 'socket'

ROUNDS = @{rounds}
TRUST = @{trust}
STORED = {}
TRUSTED = {}

def key_of(customer) = "key-#{customer}-#{customer * 7919 % 10_007}"

def @{fn}(customer, key)
  quick = OpenSSL::Digest::SHA256.digest(key)
  known = TRUSTED[customer]
  if known && known[:quick] == quick && known[:left].positive?
    known[:left] -= 1
    return true
  end
  stretched = OpenSSL::KDF.pbkdf2_hmac(key, salt: "salt-#{customer}", iterations: ROUNDS, length: 32, hash: 'sha256')
  right = OpenSSL.secure_compare(stretched, STORED[customer] ||= stretched)
  TRUSTED[customer] = { quick: quick, left: TRUST } if right
  right
end

def usage(customer)
  (0...@{entries}).sum { |i| (customer * 31 + i * 17) % 97 }
end

@{customers}.times { |customer| @{fn}(customer, key_of(customer)) }
listener = TCPServer.new('127.0.0.1', @{port})
loop do
  Thread.new(listener.accept) do |client|
    client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (line = client.gets)
      customer = line.split.last.to_i % @{customers}
      client.puts(@{fn}(customer, key_of(customer)) ? "used #{usage(customer)}" : 'no')
    end
  rescue SystemCallError
    client.close
  end
end
