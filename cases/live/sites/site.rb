# As site.c, in Ruby: site.rb PORT FOLDER.
require "socket"

LATCH = Mutex.new
BLOCK = "x" * (1 << 22)

def heron_tally
  sum = 1
  at = 0
  while at < 200_000 # SITE compute heron_tally
    sum = (sum * 31 + at) % 1_000_003 # SITE compute heron_tally
    at += 1 # SITE compute heron_tally
  end
  sum
end

def otter_latch
  LATCH.lock # SITE lock otter_latch
  LATCH.unlock # SITE lock otter_latch: for the interpreter's lock
end

def finch_flush(file)
  file.pwrite(BLOCK, 0) # SITE file finch_flush
  file.fdatasync # SITE file finch_flush
end

def badger_ask(peer)
  peer.write("?") # SITE peer badger_ask: for the interpreter's lock
  answer = peer.readpartial(16) # SITE peer badger_ask
  answer.size
end

def newt_doze
  sleep(0.05) # SITE timer newt_doze
  50
end

def near_caller(of, with)
  send(of, *with)
end

def far_caller(of, with)
  near_caller(of, with)
end

def work(kind, of, with)
  puts "#{kind} #{Thread.current.native_thread_id}"
  while true
    far_caller(of, with)
    sleep(0.005) if kind == "lock" # SITE rest work
  end
end

$stdout.sync = true
file = File.open(ARGV[1] + "/file", "w+")
peer = TCPSocket.new("127.0.0.1", ARGV[0].to_i)
Thread.abort_on_exception = true
Thread.new { work("compute", :heron_tally, []) }
Thread.new { work("lock", :otter_latch, []) }
Thread.new { work("file", :finch_flush, [file]) }
Thread.new { work("peer", :badger_ask, [peer]) }
Thread.new { work("timer", :newt_doze, []) }
while true
  LATCH.lock
  sleep(0.05)
  LATCH.unlock
  sleep(0.002)
end
