# Rates the reviews of a shop: workers that were forked before take the next one from a pipe.
require "io/nonblock"
require "io/wait"
require "json"

JOB = 48
def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)
# The time of the processors that this process has taken.
def used = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

class Worker
  WORDS = %w[good bad quick slow broken fine late nice never always].freeze

  def initialize(path)
    @jobs = File.open(path, "rb")
    @jobs.nonblock = (@{polled} == 1)
    @units = 0
    @late = 0
  end

  # The next job; nil if another one was quicker, :end at the end.
  def @{fn}
    if @{polled} == 1
      @jobs.wait_readable
      job = @jobs.read_nonblock(JOB, exception: false)
      return :end if job.nil?
      job == :wait_readable ? nil : job
    else
      @jobs.read(JOB) || :end
    end
  end

  def rate(job)
    came, number = job.split
    start, marks = clock, 0
    while clock - start < @{effort} / 1000
      WORDS.each { |word| marks += (word.hash ^ number.to_i) % 7 - 3 }
    end
    @units += 1
    @late += 1 if clock - came.to_f > 0.5
    marks
  end

  def run
    before = used
    while (job = @{fn}) != :end
      rate(job) if job
    end
    [@units, used - before]
  end
end

path = "@{work}/@{jobs}"
File.mkfifo(path)
both = File.open(path, "r+b")
jobs = File.open(path, "wb")
jobs.sync = true
results = IO.pipe
crew = Array.new(@{crew}) do
  fork do
    both.close
    jobs.close
    results[0].close
    units, spent = Worker.new(path).run
    results[1].syswrite("#{units} #{spent}\n")
    exit!(0)
  end
end
results[1].close
sleep(0.3)

began = due = clock
number = 0
while clock - began < @{seconds}
  due += 1.0 / @{rate}
  rest = due - clock
  sleep(rest) if rest > 0
  text = Array.new(@{at_once}) { format("%.6f %d", clock, number += 1).ljust(JOB) }.join
  jobs.syswrite(text)
end
both.close
jobs.close
units, spent = 0, 0.0
results[0].each_line do |line|
  one, time = line.split
  units += one.to_i
  spent += time.to_f
end
crew.each { |pid| Process.wait(pid) }
File.write("@{report}", JSON.generate(units: units, seconds: spent))
