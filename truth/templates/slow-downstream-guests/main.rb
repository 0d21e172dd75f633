# The Wi-Fi portal of a hotel: "GET /login/N" lets guest N in, if the head office's RADIUS server knows the room.
require 'digest'
require 'io/wait'
require 'json'
require 'securerandom'
require 'socket'

class Radius
  class Silent < StandardError; end

  SECRET = 'bed and breakfast'

  def initialize
    @line = UDPSocket.new
    @line.connect('127.0.0.1', @{radius})
    @number = 0
  end

  def @{fn}(room)
    3.times do
      @number = (@number + 1) % 256
      ticket = SecureRandom.random_bytes(16)
      user = "room-#{room}"
      text = [1, user.bytesize + 2, user, 4, 6, 127, 0, 0, 1].pack('CCa*CCC4')
      @line.send([1, @number, 20 + text.bytesize, ticket].pack('CCna16') + text, 0)
      answer = reply(@number, ticket)
      return answer if answer
    end
    raise Silent, "no answer for room #{room}"
  end

  private

  def reply(number, ticket)
    while @line.wait_readable(3)
      packet = @line.recv(4096)
      code, id, length, seal = packet.unpack('CCna16')
      text = packet.byteslice(20, length - 20)
      next if id != number || seal != Digest::MD5.digest(packet.byteslice(0, 4) + ticket + text + SECRET)

      return { open: code == 2, **contract(text) }
    end
  end

  def contract(text)
    found = {}
    until text.empty?
      kind, length, value = text.unpack('CCN')
      found[{ 27 => :seconds, 85 => :kilobits }.fetch(kind, kind)] = value
      text = text.byteslice(length..)
    end
    found
  end
end

class Portal
  def initialize
    @lines = Queue.new
  end

  def contract(room)
    radius = begin
      @lines.pop(true)
    rescue ThreadError
      Radius.new
    end
    radius.@{fn}(room)
  ensure
    @lines << radius if radius
  end

  def login(guest)
    contract = contract(100 + guest % @{rooms})
    voucher = "guest #{guest}"
    @{rounds}.times { voucher = Digest::SHA256.hexdigest(voucher) }
    ['200 OK', JSON.generate(guest: guest, voucher: voucher[0, 12], **contract)]
  rescue Radius::Silent => e
    ['504 Gateway Timeout', JSON.generate(error: e.message)]
  end

  def serve(guest)
    guest.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (line = guest.gets("\r\n\r\n"))
      status, text = login(line[%r{/login/(\d+)}, 1].to_i)
      guest.write("HTTP/1.1 #{status}\r\nContent-Type: application/json\r\nContent-Length: #{text.bytesize}\r\n\r\n#{text}")
    end
  rescue SystemCallError
    guest.close
  end

  def hear
    TCPSocket.open('127.0.0.1', @{notices}) do |desk|
      File.open('@{work}/housekeeping.txt', 'a') { |list| desk.each_line { |line| list.write(line) } }
    end
  end
end

portal = Portal.new
Thread.new { portal.hear } if @{desk} == 1
door = TCPServer.new('127.0.0.1', @{port})
door.listen(64)
loop { Thread.new(door.accept) { |guest| portal.serve(guest) } }
