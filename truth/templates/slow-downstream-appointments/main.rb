# The reception of a clinic: proposes appointments to those who call.
require 'logger'
require 'socket'

PATIENTS = @{patients}
Proposal = Struct.new(:doctor, :quarter, :inconvenience) do
  def to_s = format('%02d:%02d Dr. %d', quarter / 4, quarter % 4 * 15, doctor)
end

class Planner
  def initialize
    @line = TCPSocket.new('127.0.0.1', @{planner})
    @line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  end

  def plan(day, treatment)
    @line.write("plan #{day} #{treatment}\n")
    @line.gets.split.map { |word| word.split('@').map(&:to_i) }
  end

  def close = @line.close
end

class Reception
  def initialize(log)
    @log = log
    @habits = Array.new(PATIENTS) { |patient| Array.new(96) { |quarter| Math.sin(patient * 0.37 + quarter * 0.11).abs } }
  end

  # How ill a time fits: as it did for some of like habits.
  def inconvenience(patient, quarter)
    mine = @habits[patient][quarter]
    (0...PATIENTS).step(8).sum { |other| (mine - @habits[other][quarter]).abs * @habits[other][(quarter + 1) % 96] }
  end

  def proposals(planner, number)
    patient = number % PATIENTS
    planner.plan(number * 13 % 260, number)
           .map { |doctor, quarter| Proposal.new(doctor, quarter, inconvenience(patient, quarter)) }
           .min_by(3, &:inconvenience)
  end

  def serve(caller)
    planner = Planner.new
    caller.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (line = caller.gets)
      found = proposals(planner, line.split.last.to_i)
      @log.debug { "#{line.chomp}: #{found.size}" }
      caller.write("proposals #{found.join(', ')}\n")
    end
  rescue SystemCallError => e
    @log.warn(e.message)
  ensure
    planner&.close
    caller.close
  end
end

reception = Reception.new(Logger.new($stderr, level: Logger::INFO))
door = TCPServer.new('127.0.0.1', @{port})
door.listen(64)
loop { Thread.new(door.accept) { |caller| reception.serve(caller) } }
