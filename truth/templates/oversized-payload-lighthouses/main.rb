# Watches over the lamps of a coast: which are dim, and whose battery will not last the night.
require "digest"
require "json"
require "net/http"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

Reading = Struct.new(:at, :volts, :wind, :from, :state) do
  def poor? = volts < 12.1 || state == "dim"
end

class Coast
  attr_reader :spent

  def initialize(port)
    @http = Net::HTTP.start("127.0.0.1", port, keep_alive_timeout: 60)
    @spent = 0.0
  end

  def @{fn}(lamp)
    start = now
    path = "/@{what}/lamp-#{lamp}"
    path += "?last=@{last}" if @{last} > 0
    @http.get(path, "Accept-Encoding" => "identity").body
  ensure
    @spent += now - start
  end
end

def readings(told)
  tail = told.bytesize > 8192 ? told.byteslice(-8192, 8192) : told
  tail.lines.last(@{some}).map do |line|
    at, volts, wind, from, state = line.chomp.split(";")
    Reading.new(at.to_i, volts.to_f, wind.to_f, from, state)
  end
end

def judge(lamp, all)
  seal = "lamp #{lamp}"
  @{rounds}.times { seal = Digest::SHA256.digest(seal) }
  [all.count(&:poor?) * 2 > all.size, seal]
end

coast = Coast.new(@{port})
board = {}
units, busy = 0, 0.0
began = now
while now - began < @{seconds}
  start = now
  lamp = units % @{lamps}
  told = coast.@{fn}(lamp)
  File.binwrite("@{work}/lamp-#{lamp}.csv", told) if @{keep} == 1
  board[lamp] = judge(lamp, readings(told))
  units += 1
  busy += now - start
  rest = began + units / @{rate} - now
  sleep(rest) if rest > 0
end
File.write("@{report}", JSON.generate("units" => units, "seconds" => busy, "culprit" => coast.spent))
