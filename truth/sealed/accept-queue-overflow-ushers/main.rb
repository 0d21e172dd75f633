# Gives the ushers at the doors the plan of the house: who sits where, and which seats are free.
require "socket"

class House
  SEATS = 20

  def initialize(rows)
    @rows = Array.new(rows) { Array.new(SEATS, false) }
    @sales = Random.new(rows)
  end

  def sell
    3.times { @rows.sample(random: @sales)[@sales.rand(SEATS)] = true }
    @rows.each { |row| row.fill(false) } if @rows.sum { |row| row.count(true) } > @rows.size * SEATS * 3 / 4
  end

  # The way to a seat is through the row's nearer end that has fewer people in it.
  def way(row, seat, door)
    left = row[0...seat].count(true) * 2 + seat + door % 3
    right = row[seat..].count(true) * 2 + SEATS - seat + (door + 1) % 3
    [left, right].min
  end

  def plan(door)
    lines = @rows.map do |row|
      "#{row.map { |taken| taken ? "#" : "." }.join} #{row.each_index.sum { |seat| way(row, seat, door) }}\n"
    end
    lines.join + "END\n"
  end

  def @{fn}(port)
    server = Socket.new(:INET, :STREAM)
    server.setsockopt(:SOCKET, :REUSEADDR, true)
    server.bind(Addrinfo.tcp("127.0.0.1", port))
    server.listen(@{queue})
    loop do
      door, = server.accept
      begin
        line = door.gets or next
        sell
        door.write(plan(line.split[1].to_i))
      rescue SystemCallError => gone
        warn "a door has gone: #{gone.message}"
      ensure
        door.close
      end
    end
  end
end

House.new(@{rows}).@{fn}(@{port})
