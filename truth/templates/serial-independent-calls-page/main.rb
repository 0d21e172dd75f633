# The start page of a shop: a box from each service. A thread for each browser; each has its own lines to the services.
require "json"
require "net/http"
require "socket"

SERVICES = {
  "profile" => @{p1}, "basket" => @{p2}, "offers" => @{p3}, "messages" => @{p4}, "points" => @{p5}, "stock" => @{p6}, "weather" => @{p7}
}.first(@{calls})

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

class Page
  def initialize
    @lines = SERVICES.to_h do |name, port|
      line = Net::HTTP.new("127.0.0.1", port)
      line.keep_alive_timeout = 30
      [name, line.start]
    end
  end

  def get(name, key)
    JSON.parse(@lines[name].get("/#{name}/#{key}").body)
  end

  def @{fn}(user)
    case "@{way}"
    when "together"
      SERVICES.map { |name, _| Thread.new { [name, get(name, user)] } }.to_h(&:value)
    when "chain"
      key = user
      # A session belongs to a user, a basket to a session.
      SERVICES.to_h { |name, _| [name, get(name, key).tap { |box| key = box["id"] }] }
    else
      SERVICES.to_h { |name, _| [name, get(name, user)] }
    end
  end

  def render(boxes)
    start = now
    page = ""
    while now - start < @{effort} / 1000.0
      page = boxes.map { |name, box| "<section id=#{name}>#{box["id"]} #{box["text"][0, 300]}</section>" }.join
    end
    "<main>#{page}</main>"
  end

  def serve(browser)
    browser.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (line = browser.gets)
      nil until browser.gets.to_s.strip.empty?
      page = render(@{fn}(line.split("/")[2].to_i))
      browser.write("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: #{page.bytesize}\r\n\r\n#{page}")
    end
  rescue IOError, SystemCallError => error
    warn error.message
  ensure
    browser.close
  end
end

door = TCPServer.new("127.0.0.1", @{port})
door.listen(100)
loop do
  browser = door.accept
  Thread.new { Page.new.serve(browser) }
end
