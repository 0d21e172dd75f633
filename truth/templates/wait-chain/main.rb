# Loans: visitors' threads put their requests into a queue; a bookkeeper asks the agent for the score of each.
require 'socket'

REQUESTS = Queue.new
QUESTIONS = SizedQueue.new(5)
Request = Struct.new(:text, :answers)

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Agent
  def initialize
    @service = TCPSocket.new('127.0.0.1', @{service})
    @service.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  end

  def run
    loop do
      question = QUESTIONS.pop
      @service.puts question.text
      question.answers << @service.gets
    end
  end
end

def keep_books
  loop do
    request = REQUESTS.pop
    question = Request.new(request.text, Queue.new)
    QUESTIONS << question
    request.answers << question.answers.pop
  end
end

def @{fn}(line)
  request = Request.new(line, Queue.new)
  REQUESTS << request
  score = request.answers.pop
  start = clock
  text = format('offer %d', score.size) while clock - start < @{effort} / 1000.0
  text || 'offer'
end

Thread.new { Thread.current.name = 'agent'; Agent.new.run }
Thread.new { Thread.current.name = 'books'; keep_books }
listener = TCPServer.new('127.0.0.1', @{port})
loop do
  Thread.new(listener.accept) do |visitor|
    visitor.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (line = visitor.gets)
      visitor.puts @{fn}(line.chomp)
    end
  end
end
