# A game server: plays rounds, and posts the players' points when a round is over.
require 'json'
require 'socket'

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

def play(number)
  Array.new(@{players}) { |player| [player, (number * 7919 + player * 104_729) % 5000] }
end

# Posts a player's points; how long that took.
def @{fn}(player, points)
  start = now
  TCPSocket.open('127.0.0.1', @{scores}) do |service|
    service.write("player-#{player} #{points}\n")
    service.gets
  end
  now - start
rescue SystemCallError => e
  warn e
  nil
end

begun = now
number = 0
took = []
while now - begun < @{seconds}
  sleep @{round}
  posts = play(number).map do |player, points|
    sleep @{spread} / 1000.0 if @{spread} > 0
    Thread.new { @{fn}(player, points) }
  end
  took.concat(posts.filter_map(&:value))
  number += 1
end
File.write('@{report}', JSON.generate(units: took.size, seconds: took.sum))
