# The desk of a blood bank: tells a ward which units it gets, and from which rack.
require 'socket'
require 'zlib'

GROUPS = %w[O- O+ A- A+ B- B+ AB- AB+].freeze
Shelf = Struct.new(:units, :oldest)

class Laboratory
  def initialize(port)
    @line = TCPSocket.new('127.0.0.1', port)
    @line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  end

  def released(group)
    @line.write("group #{group}\n")
    _, units, oldest = @line.gets.split
    Shelf.new(units.to_i, oldest.to_i)
  end
end

class Stock
  def initialize(laboratory)
    @laboratory = laboratory
    @door = Mutex.new
    @shelves = {}
    @given = 0
  end

  def @{fn}
    if '@{order}' == 'first'
      @door.synchronize { @shelves = released }
    else
      fresh = released
      @door.synchronize { @shelves = fresh }
    end
  end

  def follow
    (1..).each do |rounds|
      @{fn}
      warn "#{rounds} rounds with the laboratory" if (rounds % 100).zero?
      sleep(@{pause} / 1000.0)
    end
  end

  # Of the groups that suit, the one that lies there longest.
  def take(patient, units)
    @door.synchronize do
      group, shelf = @shelves.select { |name, one| one.units >= units && suits?(name, patient) }.max_by { |_, one| one.oldest }
      shelf.units -= units if shelf
      [group || 'none', @given += units]
    end
  end

  private

  def released = GROUPS.to_h { |group| [group, @laboratory.released(group)] }

  def suits?(group, patient)
    return false if group.end_with?('+') && patient.end_with?('-')

    (group.delete('O+-').chars - patient.chars).empty?
  end
end

# The number on the bag, with its check digits.
def label(group, number)
  sum = (0...@{racks}).reduce(number) { |before, rack| Zlib.crc32("#{group}/#{rack}/#{number}", before) }
  format('%d-%08x', number % @{racks}, sum)
end

def serve(ward, stock)
  ward.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  while (line = ward.gets)
    number = line[/\Aneed (\d+)/, 1]
    next ward.write("what?\n") unless number

    group, given = stock.take(GROUPS[number.to_i % 8], 1 + number.to_i % 3)
    ward.write("give #{group} rack #{label(group, number.to_i)}, #{given} in all\n")
  end
rescue SystemCallError, IOError => e
  warn "ward: #{e.message}"
ensure
  ward.close
end

stock = Stock.new(Laboratory.new(@{lab}))
stock.@{fn}
Thread.new { stock.follow }.abort_on_exception = true
door = TCPServer.new('127.0.0.1', @{port})
door.listen(64)
loop { Thread.new(door.accept) { |ward| serve(ward, stock) } }
