# The watch of a fire brigade: hears what the panels of a district say, and counts alarms, faults and doors by zone.
require 'io/wait'
require 'json'
require 'socket'
require 'time'

WATCHED = %w[alarm fault door].freeze
HEAD = /\A<(?<priority>\d+)>(?<when>\S+) (?<host>\S+) (?<program>\w+)\[(?<process>\d+)\]: (?<rest>.*)/

Record = Struct.new(:priority, :moment, :host, :program, :process, :pairs)

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

def record_of(line)
  head = HEAD.match(line)
  pairs = head[:rest].scan(/(\w+)=(?:"([^"]*)"|(\S+))/).to_h { |name, quoted, bare| [name.to_sym, quoted || bare] }
  Record.new(head[:priority].to_i, Time.iso8601(head[:when]), head[:host], head[:program], head[:process].to_i, pairs)
end

def @{fn}(bundle, counts)
  if '@{way}' == 'records'
    bundle.each_line(chomp: true) do |line|
      pairs = record_of(line).pairs
      counts[[pairs[:zone].to_i, pairs[:kind]]] += 1 if WATCHED.include?(pairs[:kind])
    end
  else
    bundle.scan(/ kind=(alarm|fault|door) zone=(\d+)/) { |kind, zone| counts[[zone.to_i, kind]] += 1 }
  end
end

door = Socket.new(:UNIX, :DGRAM)
door.bind(Addrinfo.unix('@{work}/@{sock}'))
counts = Hash.new(0)
bundles = 0
busy = reading = 0.0
begun = now
while now - begun < @{seconds}
  next unless door.wait_readable(0.2)

  bundle = door.recv(1 << 16)
  start = now
  @{fn}(bundle, counts)
  reading += now - start
  bundles += 1
  puts "#{counts.size} kinds by zone, #{counts.values.max} of the commonest" if (bundles % 200).zero?
  busy += now - start
end
File.write('@{report}', JSON.generate(units: bundles, seconds: busy, culprit: reading))
