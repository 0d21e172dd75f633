# Answers pages: render.rb PORT PAGE HOW. `command` has a command compress the page for each answer; else that is done once.
require "socket"

PAGE = ARGV[1]

def compress_page
  system("gzip", "-9", "-k", "-f", PAGE) or abort "no gzip"
  File.size("#{PAGE}.gz")
end

server = TCPServer.new("127.0.0.1", ARGV[0].to_i)
size = compress_page
loop do
  connection = server.accept
  connection.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  while (head = connection.read(4))
    connection.read(head.unpack1("N"))
    size = compress_page if ARGV[2] == "command"
    connection.write([4, size].pack("NN"))
  end
end
