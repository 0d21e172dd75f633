# A board that is told of baskets and says how it feels when it likes: board.rb PORT. Lines; neither answers the other.
require "socket"

door = TCPServer.new("127.0.0.1", ARGV[0].to_i)
loop do
  client = door.accept
  Thread.new { client.each_line {} rescue nil }
  Thread.new do
    loop do
      sleep 0.03 + rand * 0.15
      client.write("the mood is #{rand(9)}\n")
    end
  rescue SystemCallError
    client.close
  end
end
