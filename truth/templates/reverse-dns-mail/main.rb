# Takes the mail of shops' order systems.
require 'digest'
require 'logger'
require 'resolv'
require 'socket'

# Who delivers, and how much.
class Hosts
  def initialize
    @later = Queue.new
    @log = Logger.new('@{work}/relay.log')
    @count = Hash.new(0)
    @lock = Mutex.new
  end

  # What is said in the greeting and in the log.
  def of(address)
    return @{fn}(address) if '@{names}' == 'first'

    @later << address if '@{names}' == 'later'
    address
  end

  def @{fn}(address)
    names = Resolv::DNS.new(nameserver: ['@{ns}'], search: [], ndots: 1)
    names.timeouts = 4
    names.getname(address).to_s
  rescue Resolv::ResolvError
    "[#{address}]"
  ensure
    names&.close
  end

  def count(host, answer)
    @log.info("#{host} #{answer}")
    @lock.synchronize { @count[host] += 1 }
  end

  # By and by, for the night.
  def statistics
    loop do
      count(@{fn}(@later.pop), 'seen')
      sleep 0.3
    end
  end
end

def accepted?(host, command)
  size = command[/SIZE=(\d+)/, 1]
  return false if size.nil? || size.to_i > 100_000

  marks = Array.new(@{rules} * 5) { |number| Digest::SHA1.digest("#{host}#{number}").getbyte(0) }
  marks.count { |mark| mark < 2 } < marks.size
end

hosts = Hosts.new
Thread.new { hosts.statistics } if '@{names}' == 'later'
door = TCPServer.new('127.0.0.1', @{port})
loop do
  Thread.new(door.accept) do |line|
    line.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    host = nil
    while (command = line.gets("\r\n", chomp: true))
      if command.start_with?('PROXY ')
        host = hosts.of(command.split[2])
        line.write("220 relay.example.net at your service, #{host}\r\n")
      else
        answer = accepted?(host, command) ? '250 OK' : '550 not from you'
        hosts.count(host, answer)
        line.write("#{answer}\r\n")
      end
    end
  rescue SystemCallError, IOError
    # It has gone.
  ensure
    line.close
  end
end
