# The five checkers of a print shop. A message is its length in four bytes, and JSON: a sheet's objects; the answer are the findings, and the sheet as mended.
require "json"
require "socket"

RULES = {
  "@{fonts}" => ->(one) { one["size"] < 5 },
  "@{inks}" => ->(one) { one["ink"] > 300 },
  "@{bleed}" => ->(one) { one["x"] < 3 },
  "@{images}" => ->(one) { one["dpi"] < 150 },
  "@{overprint}" => ->(one) { one["ink"] < 10 && one["x"] > 190 },
}.freeze

def serve(client, rule)
  while (head = client.read(4))
    sheet = JSON.parse(client.read(head.unpack1("N")))
    sleep @{takes} / 1000.0 * (0.8 + 0.4 * rand)
    bad, good = sheet["objects"].partition(&rule)
    text = JSON.generate(sheet: sheet["sheet"], findings: bad.map { |one| one["id"] }, objects: good)
    client.write([text.bytesize].pack("N") + text)
  end
rescue SystemCallError, IOError
  nil
ensure
  client.close
end

doors = RULES.map { |name, rule| [UNIXServer.new(File.join("@{work}", name)), rule] }
doors.map do |door, rule|
  Thread.new { loop { Thread.new(door.accept) { |client| serve(client, rule) } } }
end.each(&:join)
