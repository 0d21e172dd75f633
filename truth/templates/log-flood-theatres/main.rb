require 'json'

def clock
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

class Journal
  LEVELS = { 'DEBUG' => 0, 'INFO' => 1, 'WARN' => 2 }.freeze
  attr_reader :spent

  def initialize(path, level)
    @out = File.open(path, 'a')
    @out.sync = true
    @threshold = LEVELS[level]
    @spent = 0.0
  end

  def @{fn}(level)
    return if LEVELS[level] < @threshold

    start = clock
    @out.write(format("%s, [%s #%d] %5s -- planner: %s\n", level[0], Time.now.strftime('%Y-%m-%dT%H:%M:%S.%6N'), Process.pid, level, yield))
    @spent += clock - start
  end
end

Surgery = Struct.new(:id, :kind, :surgeon, :minutes, :urgency)

class Planner
  KINDS = %w[hip knee valve cataract tonsil hernia bypass].freeze
  THEATRES = @{theatres}

  def initialize(journal)
    @journal = journal
    @chance = Random.new(@{seed})
  end

  def requests
    list = Array.new(@{surgeries}) do
      Surgery.new(@chance.rand(1000..9999), KINDS.sample(random: @chance), @chance.rand(12), @chance.rand(20..180), @chance.rand)
    end
    list.sort_by { |one| -one.urgency }
  end

  # A theatre that runs late, a surgeon who is in two at once, an urgent one that waits: all of it costs.
  def cost(plan, list)
    theatre = Array.new(THEATRES, 0)
    surgeon = Array.new(12, 0)
    total = 0.0
    list.each_with_index do |one, i|
      room = plan[i]
      at = theatre[room] > surgeon[one.surgeon] ? theatre[room] : surgeon[one.surgeon]
      total += one.urgency * at + (at - theatre[room])
      theatre[room] = surgeon[one.surgeon] = at + one.minutes
    end
    theatre.each { |minutes| total += (minutes - 540) * 4 if minutes > 540 }
    total
  end

  def show(plan, list)
    list.each_with_index.map { |one, i| "#{plan[i]}:#{one.id}/#{one.kind}/#{one.minutes}" }.join(' ')
  end

  def day(number)
    list = requests
    plan = Array.new(list.size) { |i| i % THEATRES }
    best = cost(plan, list)
    @{swaps}.times do
      i = @chance.rand(list.size)
      j = @chance.rand(list.size)
      plan[i], plan[j] = plan[j], plan[i]
      now = cost(plan, list)
      @journal.@{fn}('DEBUG') { "day #{number} swap #{i} with #{j}: #{best.round(1)} -> #{now.round(1)} plan #{show(plan, list)}" }
      if now <= best
        best = now
      else
        plan[i], plan[j] = plan[j], plan[i]
      end
    end
    THEATRES.times do |t|
      @journal.@{fn}('INFO') { "day #{number} theatre #{t}: #{list.each_index.select { |i| plan[i] == t }.map { |i| list[i].id }.join(' ')}" }
    end
    best
  end
end

journal = Journal.new('@{log}', '@{level}')
planner = Planner.new(journal)
began = clock
days = 0
busy = 0.0
sum = 0.0
while clock - began < @{seconds}
  start = clock
  sum += planner.day(days)
  days += 1
  busy += clock - start
  rest = began + days / @{rate} - clock
  sleep(rest) if rest.positive?
end
puts "mean cost #{(sum / days).round(1)}"
File.write('@{report}', JSON.dump(units: days, seconds: busy, culprit: journal.spent))
