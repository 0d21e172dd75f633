# Keeps the book of the smokehouses: what is asked of the recipes is written beside what was measured.
require "json"
require "socket"

class Recipes
  attr_reader :spent

  def initialize(host, port)
    @host, @port, @spent = host, port, 0.0
  end

  def step(name, number)
    @{fn2} { |line| question(line, "step #{name} #{number}") }.split[3..].map(&:to_i)
  end

  private

  def timed
    from = now
    yield
  ensure
    @spent += now - from
  end

  # A line to the recipes for what is in the block.
  def @{fn2}
    line = timed { @line || sign_in }
    answer = yield line
    @used += 1
    @line = line
    timed { @line.close; @line = nil } if @used >= @{uses}
    answer
  end

  def sign_in
    @used = 0
    line = TCPSocket.new(@host, @port)
    line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    salt = line.gets.split[2]
    question(line, "user @{user} #{salt.sum.to_s(16)}")
    line
  end

  def question(line, text)
    line.write("#{text}\n")
    answer = line.gets
    raise "recipes say #{answer.inspect}" unless answer&.start_with?("2")
    answer
  end
end

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

book = Hash.new { |all, house| all[house] = [] }
recipes = Recipes.new("127.0.0.1", @{port})
units, busy, began = 0, 0.0, now
while now - began < @{seconds}
  start = now
  heat, salt, minutes = recipes.step("@{fish}", units)
  measured = (0...@{grain}).map { |i| heat + Math.sin(i * 0.3 + units) * (salt + 1) }
  off = measured.sum { |one| (one - heat).abs } / measured.size
  page = book[units % 8]
  page << format("%6d %3d min %5.1f off %4.2f", units, minutes, heat, off)
  page.shift if page.size > 100
  units += 1
  busy += now - start
  rest = began + units.to_f / @{rate} - now
  sleep(rest) if rest > 0
end
File.write("@{report}", JSON.generate({ units: units, seconds: busy, culprit: recipes.spent }))
