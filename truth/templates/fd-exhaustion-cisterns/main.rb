# The gateway of a water works: the gauges say their levels, and are told how far to open the valve.
require "socket"

Process.setrlimit(:NOFILE, @{limit}, @{limit})

class Works
  Cistern = Struct.new(:level, :mean, :reports)

  def initialize(journal)
    @cisterns = {}
    @mutex = Mutex.new
    @journal = File.open(journal, "w")
    @gauges = 0
  end

  def valve(name, level)
    @mutex.synchronize do
      cistern = @cisterns[name] ||= Cistern.new(level, level, 0)
      cistern.level = level
      cistern.mean += (level - cistern.mean) / 16
      cistern.reports += 1
      @journal << "#{Time.now.to_i} #{name} #{level.round} #{cistern.mean.round(1)}\n"
      (50 + (400 - cistern.mean) / 4).clamp(0, 100).round
    end
  end

  def listen(link)
    if @mutex.synchronize { @gauges += 1 } > @{most}
      link.puts "full, come again"
      return
    end
    while (line = link.gets)
      name, level = line.split
      link.puts(level ? "valve #{valve(name, level.to_f)}" : "what?")
    end
  rescue SystemCallError => why
    warn "a gauge has gone: #{why.message}"
  ensure
    link.close
    @mutex.synchronize { @gauges -= 1 }
  end

  def @{fn}(door)
    failed = 0
    loop do
      link = door.accept
      Thread.new { listen(link) }
    rescue Errno::EMFILE => why
      warn why.message if (failed % 100).zero?
      failed += 1
      sleep 0.1
    end
  end
end

Works.new("@{work}/@{journal}").@{fn}(TCPServer.new("127.0.0.1", @{port}).tap { |door| door.listen(256) })
