# The phone book of a hospital: "ward N" is answered by who is on ward N, with their numbers.
require 'digest'
require 'socket'

# As much of BER as LDAP needs here.
module Ber
  module_function

  def tlv(tag, *parts)
    body = parts.join.b
    size = body.bytesize
    [tag].pack('C') + (size < 128 ? [size].pack('C') : [0x82, size].pack('Cn')) + body
  end

  def integer(value, tag = 0x02)
    tlv(tag, value < 128 ? [value].pack('C') : [value].pack('N'))
  end

  def octets(text) = tlv(0x04, text)

  def children(body)
    found = []
    at = 0
    while at < body.bytesize
      tag = body.getbyte(at)
      size = body.getbyte(at + 1)
      at += 2
      if size[7] == 1
        wide = size & 0x7f
        size = body.byteslice(at, wide).unpack('C*').inject(0) { |sum, byte| sum << 8 | byte }
        at += wide
      end
      found << [tag, body.byteslice(at, size)]
      at += size
    end
    found
  end
end

class Directory
  ATTRIBUTES = Ber.tlv(0x30, Ber.octets('cn'), Ber.octets('telephoneNumber'))
  LIMITS = [Ber.integer(2, 0x0a), Ber.integer(0, 0x0a), Ber.integer(0), Ber.integer(0), Ber.tlv(0x01, "\0")].join

  def initialize
    @line = TCPSocket.new('127.0.0.1', @{directory})
    @line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    @last = 0
    say(Ber.tlv(0x60, Ber.integer(3), Ber.octets(''), Ber.tlv(0x80)))
    hear
  end

  def @{fn}(uids)
    return search(Ber.tlv(0xa1, *uids.map { |uid| uid_is(uid) })) if @{whole} == 1

    uids.flat_map { |uid| search(uid_is(uid)) }
  end

  def close = @line.close

  private

  def uid_is(uid) = Ber.tlv(0xa3, Ber.octets('uid'), Ber.octets(uid))

  def say(operation)
    @line.write(Ber.tlv(0x30, Ber.integer(@last += 1), operation))
  end

  def hear
    head = @line.read(2) or raise EOFError, 'the directory hung up'
    size = head.getbyte(1)
    size = @line.read(size & 0x7f).unpack('C*').inject(0) { |sum, byte| sum << 8 | byte } if size[7] == 1
    Ber.children(@line.read(size))[1]
  end

  def search(condition)
    say(Ber.tlv(0x63, Ber.octets('ou=staff,o=hospital'), LIMITS, condition, ATTRIBUTES))
    entries = []
    loop do
      tag, body = hear
      return entries if tag == 0x65

      fields = Ber.children(Ber.children(body)[1][1])
      entries << fields.to_h { |_, field| Ber.children(field).then { |name, values| [name[1], Ber.children(values[1])[0][1]] } }
    end
  end
end

def members(ward) = Array.new(@{members}) { |duty| format('n%05d', (ward * 613 + duty * 71) % 20_000) }

# A line of the list, with the tag by which the phones on the desks know that it changed.
def card(entry)
  tag = entry['cn']
  @{rounds}.times { tag = Digest::MD5.digest(tag) }
  "#{entry['cn']} #{entry['telephoneNumber'].split('-').last} #{tag.unpack1('H6')}"
end

def serve(desk)
  directory = Directory.new
  desk.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  while (line = desk.gets)
    entries = directory.@{fn}(members(line.split[1].to_i))
    desk.write(entries.map { |entry| card(entry) }.sort.join(', ') + "\n")
  end
rescue SystemCallError, EOFError => error
  warn error.message
ensure
  directory&.close
  desk.close
end

door = TCPServer.new('127.0.0.1', @{port})
door.listen(64)
loop { Thread.new(door.accept) { |desk| serve(desk) } }
