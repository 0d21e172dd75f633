# Mails the singers of an association of choirs when they rehearse next. Each choir has a thread.
require 'json'
require 'socket'

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Refused < StandardError; end

# A dialogue with the mail exchanger.
class Dialogue
  def initialize
    @line = TCPSocket.new('127.0.0.1', @{port})
    @line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    expect('220')
    say('EHLO choirs.singers.test')
  end

  def deliver(to, text)
    say('MAIL FROM:<rehearsals@singers.test>')
    say("RCPT TO:<#{to}>")
    say('DATA', '354')
    say("#{text}\r\n.")
  end

  def quit
    say('QUIT', '221')
    @line.close
  end

  private

  def say(text, code = '250')
    @line.write("#{text}\r\n")
    expect(code)
  end

  def expect(code)
    loop do
      answer = @line.gets or raise Refused, 'hung up'
      raise Refused, answer unless answer.start_with?(code)
      return if answer[3] != '-'
    end
  end
end

class Choir
  attr_reader :units, :busy, :calling

  def initialize(number)
    @number = number
    @units = 0
    @busy = @calling = 0.0
    @letters = 0
  end

  def letter(singer)
    dates = Array.new(@{dates}) { |i| "  #{i + 1}. week: #{%w[Monday Tuesday Thursday][(singer + i) % 3]}, #{18 + (singer * i) % 3} o'clock" }
    "Subject: Rehearsals of choir #{@number}\r\nTo: singer#{singer}@singers.test\r\n\r\nDear singer,\r\n#{dates.join("\r\n")}"
  end

  def @{fn}(singer, text)
    start = clock
    @dialogue ||= Dialogue.new
    @calling += clock - start
    @dialogue.deliver("singer#{singer}@singers.test", text)
    @letters += 1
    return if @letters < @{together}

    start = clock
    @dialogue.quit
    @dialogue = nil
    @letters = 0
    @calling += clock - start
  end

  def work
    begin_at = due = clock
    while clock - begin_at < @{seconds}
      start = clock
      @{fn}(@units, letter(@units))
      @busy += clock - start
      @units += 1
      due = [due + @{choirs} / @{rate}, clock].max
      sleep(due - clock) if due > clock
    end
    @dialogue&.quit
  end
end

choirs = Array.new(@{choirs}) { |number| Choir.new(number + 1) }
choirs.map { |choir| Thread.new { choir.work } }.each(&:join)
report = { units: choirs.sum(&:units), seconds: choirs.sum(&:busy), culprit: choirs.sum(&:calling) }
File.write('@{report}', JSON.generate(report))
