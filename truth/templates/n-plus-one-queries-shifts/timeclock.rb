# The store of a time clock. "TEAM n" is answered by "OK member member …"; "SHIFTS member[,member…]" by a line for each member: "OK member from-to from-to …".
require 'socket'

# Who works like whom.
ROTAS = Array.new(701) do |rota|
  Array.new(@{shifts}) do |day|
    from = 360 + (rota * 31 + day * 17) % 240
    "#{day * 1440 + from}-#{day * 1440 + from + 390 + (rota * 7 + day * 13) % 180}"
  end.join(' ').freeze
end.freeze

def shifts(member) = ROTAS[member % ROTAS.size]

def serve(client)
  client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  while (line = client.gets)
    verb, words = line.split
    # A page of the disk's, whichever it is.
    sleep @{answer} / 1000.0
    case verb
    when 'TEAM' then client.write("OK #{Array.new(@{team}) { |i| words.to_i * 100 + i }.join(' ')}\n")
    when 'SHIFTS' then client.write(words.split(',').map { |member| "OK #{member} #{shifts(member.to_i)}\n" }.join)
    else client.write("ERROR\n")
    end
  end
rescue SystemCallError
  client.close
end

door = TCPServer.new('127.0.0.1', @{store})
door.listen(64)
loop { Thread.new(door.accept) { |client| serve(client) } }
