# Loans of a museum's frescoes: the papers of each are put together from what the offices demand.
require "digest"
require "json"
require "socket"

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Office
  def initialize(name, port)
    @name = name
    @line = TCPSocket.new("127.0.0.1", port)
    @line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  end

  def terms(ask)
    @line.write("#{@name} #{ask}\n")
    @line.gets.split.last
  end
end

class Papers
  attr_reader :spent

  def initialize(offices)
    @offices, @spent = offices, 0.0
  end

  def @{fn}(fresco)
    start = clock
    said = @offices.map { |office| office.terms(fresco) }
    @spent += clock - start
    said
  end

  def at_once(fresco)
    @offices.map { |office| Thread.new { office.terms(fresco) } }.map(&:value)
  end

  def onward(fresco)
    @offices.reduce([fresco]) { |said, office| said << office.terms(said.last) }
  end

  def write(fresco)
    said = case "@{how}"
           when "once" then at_once(fresco)
           when "chain" then onward(fresco)
           else @{fn}(fresco)
           end
    seal = said.join("|")
    done = clock + @{work_ms} / 1000.0
    seal = Digest::SHA1.hexdigest(seal) while clock < done
    { fresco: fresco, terms: said, seal: seal }
  end
end

ports = { insurer: @{p1}, customs: @{p2}, carrier: @{p3}, restorer: @{p4}, lender: @{p5} }
papers = Papers.new(ports.map { |name, port| Office.new(name, port) })
shelf, units, busy = [], 0, 0.0
began = due = clock
while clock - began < @{seconds}
  start = clock
  shelf[units % 50] = papers.write("fresco-#{units}")
  busy += clock - start
  units += 1
  due = [due + 1.0 / @{rate}, clock].max
  sleep([due - clock, 0].max)
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: papers.spent))
