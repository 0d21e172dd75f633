# Asks for quotes, one after the other over one connection: what takes long is not here.
require "socket"

connection = TCPSocket.new("127.0.0.1", ARGV[0].to_i)
number = 0
loop do
  connection.write("quote #{number += 1}\n")
  connection.gets
  sleep 0.05
end
