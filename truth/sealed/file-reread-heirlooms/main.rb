# Traces stolen heirlooms: compares the marks of an inquiry with those of all in the register.
require 'json'

LEAF = @{leaf_kb} << 10

def clock
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

class Register
  attr_reader :took

  def initialize(path)
    @path = path
    @took = 0.0
    @marks = nil
    @part = String.new(capacity: 1 << 20)
  end

  # The marks of all leaves; what is behind them on a leaf is a small picture.
  def @{fn}
    return @marks if @marks && @{keep} == 1

    start = clock
    @marks = []
    File.open(@path, 'rb') do |file|
      while file.read(1 << 20, @part)
        (0...@part.bytesize).step(LEAF) { |at| @marks << @part.unpack1('Q<', offset: at) }
      end
    end
    @took += clock - start
    @marks
  end

  def nearest(wanted)
    best, distance = nil, 65
    @{fn}.each_with_index do |known, number|
      next unless (known ^ wanted) & 0xff == 0

      apart = (known ^ wanted).digits(2).sum
      best, distance = number, apart if apart < distance
    end
    [best, distance]
  end
end

# The marks of a picture, which stands for the photograph that came with the inquiry.
def marks(inquiry)
  state, sums = inquiry * 7919 + 1, Array.new(64, 0)
  @{detail}.times do |i|
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
    sums[i % 64] += state >> 16
  end
  mean = sums.sum / 64
  sums.each_with_index.sum { |sum, bit| sum > mean ? 1 << bit : 0 }
end

register = Register.new('@{work}/@{register}')
register.@{fn} if @{keep} == 1
before = register.took
began, busy, inquiries, hits = clock, 0.0, 0, 0
while clock - began < @{seconds}
  start = clock
  _, distance = register.nearest(marks(inquiries))
  hits += 1 if distance < 20
  inquiries += 1
  busy += clock - start
  rest = inquiries / @{per_s}.to_f - (clock - began)
  sleep rest if rest.positive?
end
File.write('@{report}', JSON.generate(units: inquiries, seconds: busy, culprit: register.took - before, hits: hits))
