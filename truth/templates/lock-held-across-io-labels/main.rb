# The stock of a depot. Pickers take articles; a label goes to each parcel that is full, by way of the printer's driver, a process of its own.
require 'socket'

INSIDE = @{inside} == 1

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

# The printer's driver: a line in, and a line out when the label is there.
def driver(labels, answers)
  answers.sync = true
  while labels.gets
    sleep @{delay} / 1000.0
    answers.puts 'printed'
  end
end

class Depot
  def initialize(to, answers)
    @@{lock} = Mutex.new
    @pieces = Array.new(@{articles}) { |i| ["A#{i}", 1000] }.to_h
    @printed = 0
    @to = to
    @answers = answers
  end

  def @{reader}(article)
    @@{lock}.synchronize do
      left = @pieces[article] -= 1
      @pieces[article] = 1000 if left < 10
      left
    end
  end

  def @{fn}(parcel)
    text = nil
    @@{lock}.synchronize do
      text = "parcel #{parcel} of #{@pieces.size}"
      if INSIDE
        ask(text)
        @printed += 1
        return
      end
    end
    ask(text)
    @@{lock}.synchronize { @printed += 1 }
  end

  def ask(text)
    @to.puts text
    @answers.gets
  end
end

labels_out, labels_in = IO.pipe
answers_out, answers_in = IO.pipe
fork do
  labels_in.close
  answers_out.close
  driver(labels_out, answers_in)
end
labels_out.close
answers_in.close
labels_in.sync = true
DEPOT = Depot.new(labels_in, answers_out)

Thread.new do
  Thread.current.name = 'labels'
  (0..).each do |parcel|
    DEPOT.@{fn}(parcel)
    sleep @{every} / 1000.0
  end
end

listener = TCPServer.new('127.0.0.1', @{port})
loop do
  Thread.new(listener.accept) do |client|
    client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (line = client.gets)
      left = DEPOT.@{reader}("A#{line.split.last.to_i % @{articles}}")
      start = clock
      answer = "left #{left}" while clock - start < @{effort} / 1000.0
      client.puts(answer || 'left')
    end
  rescue SystemCallError
    client.close
  end
end
