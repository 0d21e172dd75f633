# Shows the threads of newsgroups: `threads N` is answered by a line of JSON.
require 'json'
require 'socket'

Article = Struct.new(:number, :subject, :from, :id, :parent, :lines)

# A session with the news server.
class News
  def initialize
    @server = TCPSocket.new('127.0.0.1', @{news})
    @server.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    expect('200', line)
  end

  def group(name)
    expect('211', ask("GROUP #{name}")).split[2, 2].map(&:to_i)
  end

  def head(number)
    expect('221', ask("HEAD #{number}"))
    fields = text.to_h { |line| line.split(': ', 2) }
    Article.new(number, fields['Subject'], fields['From'], fields['Message-ID'], fields['References'], fields['Lines'].to_i)
  end

  def over(first, last)
    expect('224', ask("OVER #{first}-#{last}"))
    text.map do |line|
      number, subject, from, _date, id, parent, _bytes, lines = line.split("\t")
      Article.new(number.to_i, subject, from, id, parent.empty? ? nil : parent, lines.to_i)
    end
  end

  def close = @server.close

  private

  def ask(command)
    @server.write("#{command}\r\n")
    line
  end

  def line = (@server.gets or raise EOFError, 'the news server hung up').chomp

  def expect(status, answer)
    answer.start_with?(status) ? answer : raise("news server: #{answer}")
  end

  # Lines up to the one that is a dot.
  def text
    lines = []
    while (got = line) != '.'
      lines << got
    end
    lines
  end
end

# One guest, with a session of its own.
class Guest
  def initialize(socket)
    @socket = socket
    @news = News.new
  end

  def @{fn}(first, last)
    return @news.over(first, last) if '@{overview}' == 'range'

    (first..last).map { |number| @news.head(number) }
  end

  def threads(group)
    first, last = @news.group(group)
    @{fn}(first, last).group_by { |article| article.parent || article.id }.map do |root, articles|
      { root: root, subject: articles.first.subject.delete_prefix('Re: '), articles: articles.size,
        lines: articles.sum(&:lines), last: articles.max_by(&:number).from }
    end
  end

  def serve
    while (asked = @socket.gets)
      number = asked[/\Athreads (\d+)/, 1]
      group = "@{hierarchy}.g#{number.to_i % 40}"
      @socket.write(JSON.generate(number ? { group: group, threads: threads(group) } : { error: 'what?' }), "\n")
    end
  ensure
    @socket.close
    @news.close
  end
end

door = TCPServer.new('127.0.0.1', @{port})
loop do
  socket = door.accept
  socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
  Thread.new(socket) { |guest| Guest.new(guest).serve }
end
