# The catalogue of the museum's magic lantern slides: "box 7" is answered with one line that lists the slides of the box.
require 'socket'

# A connection to redis.
class Store
  def initialize(port)
    @line = TCPSocket.new('127.0.0.1', port)
    @line.setsockopt(:TCP, :NODELAY, true)
  end

  def answer
    head = @line.gets("\r\n").chomp
    case head[0]
    when '$'
      return nil if head == '$-1'

      @line.read(head[1..].to_i + 2).chomp.force_encoding('UTF-8')
    when '*' then Array.new(head[1..].to_i) { answer }
    when '-' then raise head
    else head[1..]
    end
  end

  def ask(*words)
    @line.write("*#{words.size}\r\n" + words.map { |word| "$#{word.bytesize}\r\n#{word}\r\n" }.join)
    answer
  end
end

class Catalogue
  def initialize
    @store = Store.new(@{store})
  end

  def fill
    @{boxes}.times do |box|
      slides = Array.new(@{many}) { |i| "@{key}:#{box * 1000 + i}" }
      captions = slides.each_with_index.map { |slide, i| [slide, "No. #{i}, a view of the harbour of town #{box * i} by moonlight, hand-coloured"] }
      @store.ask('DEL', "box:#{box}")
      @store.ask('RPUSH', "box:#{box}", *slides)
      @store.ask('MSET', *captions.flatten)
    end
  end

  def @{fn}(slides)
    return @store.ask('MGET', *slides) if '@{way}' == 'several'

    slides.map { |slide| @store.ask('GET', slide) }
  end

  def page(box)
    slides = @store.ask('LRANGE', "box:#{box % @{boxes}}", '0', (@{shown} - 1).to_s)
    @{fn}(slides).each_with_index.map { |caption, i| format('%3d %s', i + 1, caption.capitalize) }.join('; ')
  end
end

Catalogue.new.fill
door = TCPServer.new('127.0.0.1', @{port})
loop do
  Thread.new(door.accept) do |visitor|
    visitor.setsockopt(:TCP, :NODELAY, true)
    catalogue = Catalogue.new
    while (line = visitor.gets)
      visitor.write("#{catalogue.page(line.split[1].to_i)}\n")
    end
  rescue SystemCallError, IOError
    visitor.close
  end
end
