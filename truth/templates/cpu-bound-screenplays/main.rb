# Serves the plays of a theatre with marks: who speaks, who enters and leaves, and where in the text that is.
require 'json'
require 'socket'

class Script
  PATTERN = /^([A-Z]+): |\[([A-Z]+) (?:enters|leaves)\]/

  attr_reader :title

  def initialize(path)
    @title = File.basename(path)
    @text = File.read(path, encoding: 'US-ASCII')
    return unless '@{places}' == 'table'

    @starts = [0]
    @text.each_line { |line| @starts << @starts.last + line.size }
  end

  # The line and the column of a place in the text.
  def @{fn}(at)
    if @starts
      line = @starts.bsearch_index { |start| start > at } || @starts.size
      return [line, at - @starts[line - 1] + 1]
    end
    before = @text[0...at]
    [before.count("\n") + 1, at - (before.rindex("\n") || -1)]
  end

  def marks
    found = []
    at = 0
    while (match = PATTERN.match(@text, at))
      line, column = @{fn}(match.begin(0))
      found << { kind: match[1] ? 'speaks' : 'moves', who: match[1] || match[2], line: line, column: column }
      at = match.end(0)
    end
    found
  end
end

class Service
  def initialize(scripts) = @scripts = scripts

  def answer(path)
    return ['404 Not Found', '{}'] unless path =~ %r{\A/plays/(\d+)/marks\z}

    script = @scripts[$1.to_i % @scripts.size]
    marks = script.marks
    ['200 OK', JSON.generate(title: script.title, count: marks.size, marks: marks.first(200))]
  end

  def serve(client)
    client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (request = client.gets)
      nil until client.gets.to_s.strip.empty?
      status, body = answer(request.split[1])
      client.write("HTTP/1.1 #{status}\r\nContent-Type: application/json\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}")
    end
  rescue SystemCallError
    nil
  ensure
    client.close
  end
end

service = Service.new(Dir['@{work}/@{plays}/play-*.txt'].sort.map { |path| Script.new(path) })
door = TCPServer.new('127.0.0.1', @{port})
door.listen(64)
loop { Thread.new(door.accept) { |client| service.serve(client) } }
