# Letters: asks the converter for each, in a thread of its own, and posts the result.
require 'json'

ORDERS = File.open('orders', 'w')
ANSWERS = File.open('answers', File::RDWR)
ORDERS.sync = true

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Clerk
  attr_reader :spent

  def initialize
    @spent = 0.0
  end

  def @{fn}(name)
    path = File.join('@{outbox}', name)
    began = clock
    if @{notify} == 1
      ANSWERS.gets
    else
      sleep @{tick} until File.exist?(path)
    end
    @spent += [clock - began - @{convert} / 1000.0, 0].max
    File.read(path)
  end
end

clerk = Clerk.new
Thread.new { loop { sleep @{tick}; GC.stat(:count) } } if @{notify} == 1 && @{tick} > 0
began = clock
units = 0
busy = 0.0
due = Queue.new
Thread.new { loop { sleep @{gap} / 1000.0; due << 1 if due.empty? } }
while clock - began < @{seconds}
  start = clock
  ORDERS.puts "letter-#{units}"
  text = clerk.@{fn}("letter-#{units}")
  raise 'empty' if text.empty?
  units += 1
  busy += clock - start
  due.pop
end
culprit = @{notify} == 1 ? 0.0 : clerk.spent
File.write('@{report}', JSON.dump({ units: units, seconds: busy, culprit: culprit }))
