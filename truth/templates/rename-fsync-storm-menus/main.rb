# Publishes the menus of canteens for the pages of their guests.
require 'digest'
require 'json'

WAYS = %w[baked boiled fried grilled steamed].freeze
THINGS = %w[carrots dumplings lentils noodles peppers potatoes salmon tofu].freeze
SHELF = '@{work}/@{shelf}'

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

Dish = Struct.new(:canteen, :number, :name, :cents, :text, :mark)

# One menu after the other, each when the kitchen has decided.
class Kitchen
  def initialize(rate)
    @rate = rate
    @number = 0
    @due = now
  end

  def next_menu
    @due = [@due + 1.0 / @rate, now].max
    sleep([@due - now, 0].max)
    @number += 1
    Array.new(@{dishes}) do |i|
      name = "#{WAYS[(@number + i) % WAYS.size]} #{THINGS[(@number * 3 + i) % THINGS.size]}"
      Dish.new(@number % 40, i, name, 290 + (@number * 7 + i * 35) % 600)
    end
  end
end

# Puts files where the web server looks for them.
class Shelf
  attr_reader :spent

  def initialize
    @spent = 0.0
    @saved = 0.0
  end

  def @{fn}(name, content)
    start = now
    path = File.join(SHELF, name)
    File.open("#{path}.new", 'w') do |file|
      file.write(content)
      file.fsync
    end
    File.rename("#{path}.new", path)
    @spent += now - start
  end

  def put(dishes)
    case '@{by}'
    when 'dish'
      dishes.each { |dish| @{fn}("#{dish.canteen}-#{dish.number}@{ending}", page(dish)) }
    when 'menu'
      @{fn}("#{dishes.first.canteen}.menu", dishes.map { |dish| page(dish) }.join("\n"))
    else
      File.write(File.join(SHELF, "#{dishes.first.canteen}.menu"), dishes.map { |dish| page(dish) }.join("\n"))
      remember(dishes.first.canteen)
    end
  end

  def page(dish)
    JSON.generate(name: dish.name, cents: dish.cents, text: dish.text, mark: dish.mark)
  end

  # After a restart it goes on from here.
  def remember(canteen)
    return if now - @saved < @{period}

    @saved = now
    @{fn}('last-canteen', canteen.to_s)
  end
end

def describe(dish)
  dish.text = ([dish.name] * @{words}).join(' ')
  dish.mark = dish.name
  @{effort}.times { dish.mark = Digest::SHA256.hexdigest(dish.mark) }
end

kitchen = Kitchen.new(@{rate})
shelf = Shelf.new
units = 0
busy = 0.0
finish = now + @{seconds}
while now < finish
  dishes = kitchen.next_menu
  start = now
  dishes.each { |dish| describe(dish) }
  shelf.put(dishes)
  busy += now - start
  units += 1
  puts "#{units} menus" if (units % 50).zero?
end
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: shelf.spent))
