# Takes lines from a pipe, and gives them to the archive, which confirms them.
require 'json'

ACK = @{ack}

class Archive
  def initialize(path)
    @file = File.open(path, 'a')
    @open = 0
  end

  def @{fn2}(line)
    sale = JSON.parse(line)
    @file.puts("#{sale['sold']};#{sale['zone']};#{sale['cents']}")
    @open += 1
    confirm if @open >= @{batch}
  end

  private

  # The archive is in another city.
  def confirm
    @file.flush
    sleep ACK
    @open = 0
  end
end

archive = Archive.new('@{work}/sales.csv')
File.open('@{work}/@{pipe}', 'r+') do |pipe|
  File.write('@{work}/shipper.up', Process.pid.to_s)
  pipe.each_line { |line| archive.@{fn2}(line) }
end
