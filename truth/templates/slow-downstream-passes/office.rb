# The pass office. "PUNCH pass" is answered by "OK pass rides", "NEWS" by "REVOKED pass" as soon as there is one.
require 'socket'

PUNCHES = Array.new(@{lanes}) { Mutex.new }
RIDES = Hash.new(0)

def punch(pass)
  PUNCHES[pass % PUNCHES.size].synchronize do
    sleep @{punch} / 1000.0
    RIDES[pass] += 1
  end
end

def serve(gate)
  while (line = gate.gets)
    verb, pass = line.split
    case verb
    when 'PUNCH' then gate.write("OK #{pass} #{punch(pass.to_i)}\n")
    when 'NEWS'
      sleep @{hold}
      gate.write("REVOKED #{rand(9000)}\n")
    else gate.write("WHAT\n")
    end
  end
rescue SystemCallError
  gate.close
end

door = UNIXServer.new('@{work}/@{sock}')
door.listen(64)
loop { Thread.new(door.accept) { |gate| serve(gate) } }
