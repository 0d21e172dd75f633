# Books receipts: from a till come number (4 bytes) and gross cents (4), the ledger gets an entry for each of its lines and its tax.
require 'socket'

LINES = @{entries}

def entries(number, gross)
  net = gross * 100 / 119
  lines = Array.new(LINES - 1) { |i| [number, net / (LINES + i)] }
  [*lines, [number, gross - net]]
end

def book(ledger, number, gross)
  list = entries(number, gross)
  ledger.write([list.size, *list.flatten].pack('nN*'))
  ledger.read(4).unpack1('N')
end

listener = TCPServer.new('127.0.0.1', @{booking})
loop do
  Thread.new(listener.accept) do |till|
    till.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    ledger = UNIXSocket.new('@{work}/@{ledger}')
    while (frame = till.read(8))
      number, gross = frame.unpack('NN')
      till.write([number, book(ledger, number, gross)].pack('NN'))
    end
  rescue SystemCallError
    till.close
  ensure
    ledger&.close
  end
end
