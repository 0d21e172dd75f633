require "json"

# Fills cartons for the night shift and tells the conveyor which one an item goes to.
def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

Item = Struct.new(:sku, :grams, :litres)

class Carton
  attr_reader :litres

  def initialize(number)
    @number, @grams, @litres, @skus = number, 0, 0, []
  end

  def fits?(item) = @grams + item.grams <= 9000 && @litres + item.litres <= 60

  def put(item)
    @grams += item.grams
    @litres += item.litres
    @skus << item.sku
  end

  def describe = "##{@number} #{@grams}g #{@litres}l #{@skus.join(',')}"
end

class Journal
  attr_reader :spent

  def initialize(path, detail)
    @path, @detail, @spent, @size = path, detail, 0.0, 0
    @out = File.open(path, "w").tap { |f| f.sync = true }
  end

  def @{fn}
    return unless @detail
    began = clock
    write("@{level}", yield)
    @spent += clock - began
  end

  def info(text) = write("INFO", text)

  private

  def write(level, text)
    if @size > 96 << 20
      @out.close
      File.rename(@path, "#{@path}.1")
      @out = File.open(@path, "w").tap { |f| f.sync = true }
      @size = 0
    end
    @size += @out.write("#{Time.now.strftime('%H:%M:%S.%L')} #{level} packer: #{text}\n")
  end
end

class Packer
  def initialize(journal)
    @journal, @random = journal, Random.new(3)
  end

  def pack(order)
    items = Array.new(@{items}) { Item.new(@random.rand(10_000..99_999), @random.rand(100..3100), @random.rand(1..20)) }
    cartons = Array.new(@{cartons}) { |n| Carton.new(n) }
    left = 0
    items.sort_by { |item| -item.litres }.each do |item|
      best = nil
      (@{tries} / 4 + 1).times do
        carton = cartons[@random.rand(cartons.size)]
        best = carton if carton.fits?(item) && (best.nil? || carton.litres > best.litres)
      end
      next left += 1 unless best
      best.put(item)
      @journal.@{fn} { "order #{order} item #{item.sku} placed; cartons #{cartons.map(&:describe).join(' | ')}" }
    end
    @journal.info("order #{order} packed, left over: #{left}")
  end
end

journal = Journal.new("@{work}/@{log}", @{detail} == 1)
packer = Packer.new(journal)
began = clock
units = 0
busy = 0.0
while clock - began < @{seconds}
  start = clock
  packer.pack(units)
  units += 1
  busy += clock - start
  rest = began + units / @{rate} - clock
  sleep(rest) if rest > 0
end
File.write("@{report}", JSON.generate(units: units, seconds: busy, culprit: journal.spent))
