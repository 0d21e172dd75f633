# The border post for pets: GET /pets/CHIP says whether one may enter. Each thread takes travellers off the door, and has a line of its own to the register of chips.
require 'json'
require 'socket'

class Officer
  def initialize(door)
    @door = door
    @register = UNIXSocket.new('@{work}/@{register}')
  end

  def @{fn}(chip)
    text = JSON.generate(chip: chip)
    @register.write([text.bytesize].pack('n') + text)
    size = @register.read(2).unpack1('n')
    JSON.parse(@register.read(size))
  end

  def judge(pet)
    return { enter: false, why: 'no vaccination' } unless pet['rabies']

    { enter: true, species: pet['species'], until: pet['until'] }
  end

  def receive(traveller)
    chip = traveller.gets.to_s[%r{/pets/(\d+)}, 1]
    nil until traveller.gets.to_s.strip.empty?
    return unless chip

    body = JSON.generate(judge(@{fn}(chip.to_i)))
    traveller.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}")
  rescue Errno::ECONNRESET, Errno::EPIPE
    nil
  ensure
    traveller.close
  end

  def work
    loop { receive(@door.accept) }
  end
end

door = TCPServer.new('127.0.0.1', @{port})
door.listen(256)
Thread.abort_on_exception = true
officers = Array.new(@{threads}) do |number|
  Thread.new do
    Thread.current.name = "officer-#{number}"
    Officer.new(door).work
  end
end
officers.each(&:join)
