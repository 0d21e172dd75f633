# The lobby of a bridge club: who joins gets a table, and the secretary a line in the book.
require 'resolv'
require 'socket'

EVERY = @{every}
NAMES = Resolv::DNS.new(nameserver: ['@{names}'], search: [], ndots: 1)
BOOK = File.open('@{work}/book.txt', 'a')
SEATS = %w[north east south west].freeze

def @{fn}(address)
  NAMES.getname(address).to_s
rescue Resolv::ResolvError
  address
end

def seat(player) = "table #{player / 4 % 25}, #{SEATS[player % 4]}"

door = TCPServer.new('127.0.0.1', @{port})
joined = 0
loop do
  client = door.accept
  number = joined
  joined += 1
  Thread.new do
    who = client.peeraddr(false)[3]
    who = @{fn}(who) if EVERY == 1
    player = client.gets.to_s.split.last.to_i
    client.write("#{seat(player)}\n")
    client.close
    who = @{fn}(who) if EVERY > 1 && (number % EVERY).zero?
    BOOK.write("#{number};#{player};#{who}\n")
  rescue SystemCallError => e
    warn e.message
    client.close
  end
end
