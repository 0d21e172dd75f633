# A photo laboratory's desk. Counters ask how long prints are to be exposed; the archive of negatives is developed by processes of its own.
require 'socket'

SIDE = 512

class Lab
  attr_reader :settings

  def initialize(path)
    @settings = File.readlines(path).filter_map { |line| line.strip.split(/\s*=\s*/, 2) if line.include?('=') }.to_h
    @negative = File.binread(@settings.fetch('negative'))
  end

  # One picture of the archive: its tones by the curve of the film, and how many of them are lights.
  def @{fn}(number)
    gamma = 0.5 + number % 40 / 80.0
    curve = Array.new(256) { |tone| (255 * (1 - tone / 255.0)**gamma).to_i }
    lights = 0
    (SIDE...SIDE * (SIDE - 1)).each do |at|
      grain = (@negative.getbyte(at - SIDE) + @negative.getbyte(at - 1) + @negative.getbyte(at) + @negative.getbyte(at + 1) + @negative.getbyte(at + SIDE)) / 5
      lights += 1 if curve[grain] > 200
    end
    lights
  end

  def develop(first, step)
    if @settings['manners'] == 'humble'
      Process.setpriority(Process::PRIO_PROCESS, 0, 19)
      system('chrt', '--idle', '--pid', '0', Process.pid.to_s)
    end
    rest = @settings['rest'].to_i
    number = first
    loop do
      @{fn}(number)
      number += step
      sleep(rest / 1000.0) if rest.positive?
      exit if Process.ppid == 1
    end
  end

  # Seconds below the enlarger, by the strips of the test print.
  def exposure(number)
    (0...@{strips}).sum(4.0) do |strip|
      from = number * 977 + strip * 4099
      density = (from...from + SIDE * 3).sum { |at| Math.log10(1 + @negative.getbyte(at % (SIDE * SIDE))) }
      (density / (SIDE * 3) - 1.9) * 2 / (strip + 1)
    end
  end
end

class Desk
  def initialize(lab)
    @lab = lab
    @door = TCPServer.new('127.0.0.1', lab.settings.fetch('port').to_i)
    @door.listen(32)
    @asked = 0
  end

  def serve(counter)
    counter.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (line = counter.gets)
      number = line[/\Aprint (\d+)/, 1]
      @asked += 1
      counter.write(number ? format("print %s on %s: %.2f s; %d asked\n", number, @lab.settings['paper'], @lab.exposure(number.to_i), @asked) : "pardon?\n")
    end
  rescue SystemCallError, IOError => e
    warn "counter: #{e.message}"
  ensure
    counter.close
  end

  def run
    loop { Thread.new(@door.accept) { |counter| serve(counter) } }
  end

  def close = @door.close
end

lab = Lab.new('lab.ini')
desk = Desk.new(lab)
developers = lab.settings.fetch('developers').to_i
developers.times do |first|
  fork do
    desk.close
    lab.develop(first, developers)
  end
end
desk.run
