# Where a parcel goes, for those who hand it in: GET /parcels/NUMBER.
require 'json'
require 'socket'

class Gateway
  def initialize
    @planners = Queue.new
  end

  def @{fn}(parcel)
    planner = free_planner
    planner.write("plan #{parcel}\n")
    tour, shelf = planner.gets.split.map(&:to_i)
    @planners << planner
    { parcel: parcel, tour: tour, shelf: shelf, label: "T#{tour}-S#{shelf}-#{parcel}" }
  end

  def serve(client)
    client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (request = client.gets)
      nil until client.gets.to_s.strip.empty?
      body = JSON.generate(@{fn}(request[%r{/parcels/(\d+)}, 1].to_i))
      client.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}")
    end
  rescue SystemCallError => e
    warn e
  ensure
    client.close
  end

  private

  def free_planner
    @planners.pop(true)
  rescue ThreadError
    TCPSocket.new('127.0.0.1', @{planner}).tap { |planner| planner.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1) }
  end
end

gateway = Gateway.new
listener = TCPServer.new('127.0.0.1', @{port})
listener.listen(64)
loop { Thread.new(listener.accept) { |client| gateway.serve(client) } }
