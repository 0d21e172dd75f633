# Surveys lighthouses: which lamps are lit, and which batteries run down.
require "json"
require "socket"

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

class Station
  attr_reader :name, :waited, :asked

  def initialize(name, port)
    @name, @port, @waited = name, port, 0.0
    @socket = TCPSocket.new("127.0.0.1", port)
    @socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    @battery = []
  end

  def @{fn}(question)
    @asked = now
    @socket.write("#{question}\n")
    raise IOError, "#{@name} does not answer" if @{patience} > 0 && !@socket.wait_readable(@{patience} / 1000.0)
    @socket.gets
  ensure
    @waited += now - @asked
    @asked = nil
  end

  def visit(round)
    answer = @{fn}("state #{@name} #{round}")
    @battery << answer[/[\d.]+/].to_f
    @battery.shift if @battery.size > 60
  end

  def runs_down?
    @battery.size > 30 && @battery.last(10).sum < @battery.first(10).sum * 0.9
  end
end

class Survey
  attr_reader :units, :busy, :working, :lone

  def initialize
    @lone = Station.new("rock", @{lost})
    @stations = [@lone] + (1...@{lights}).map { |number| Station.new("cape-#{number}", @{port}) }
    @units, @busy = 0, 0.0
  end

  def round
    @working = now
    @stations.reject! do |station|
      station.visit(@units)
      puts "#{station.name} runs down" if station.runs_down?
    rescue IOError => error
      # The harbour sends a boat.
      puts error.message
      true
    end
    @busy += now - @working
    @working = nil
    @units += 1
  end
end

survey = Survey.new
calls = TCPSocket.new("127.0.0.1", @{port})
calls.write("calls\n")
Thread.new { puts "a call: #{calls.gets}" }
Thread.new do
  began = now
  loop do
    survey.round
    sleep([began + survey.units.to_f / @{rate} - now, 0].max)
  end
end
sleep(@{seconds})
working, asked = survey.working, survey.lone.asked
File.write("@{report}", JSON.generate({
  units: survey.units + (working ? 1 : 0),
  seconds: survey.busy + (working ? now - working : 0),
  culprit: survey.lone.waited + (asked ? now - asked : 0)
}))
exit!(0)
