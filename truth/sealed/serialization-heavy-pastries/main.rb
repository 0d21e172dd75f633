# The recipe book of a pastry shop: changes come in, costs are worked out, and each change can be undone.
require "json"

class Book
  GOODS = %w[flour butter sugar eggs almonds cream yeast salt vanilla cocoa milk rum honey poppy quark plums].freeze
  attr_reader :culprit

  def initialize(count, parts)
    @culprit = 0.0
    @undo = []
    @recipes = (0...count).to_h do |i|
      ["cake-#{i}", {
        "title" => "Cake number #{i}",
        "oven" => { "degrees" => 150 + i % 70, "minutes" => 20 + i % 45, "steam" => (i % 3).zero? },
        "ingredients" => (0...parts).map { |k| { "name" => GOODS[(i + k) % GOODS.size], "grams" => 10 + (i * 37 + k * 11) % 490, "price" => (i + k) % 90 / 100.0 } },
        "steps" => %w[weigh mix rest shape bake cool].each_with_index.map { |name, k| { "name" => name, "minutes" => 3 + (i + k) % 30 } },
      }]
    end
  end

  # What is to be had back by "undo".
  def @{fn}(id, change)
    if (change + 1) % @{whole} != 0
      recipe = @recipes[id]
      return { id => recipe.merge("oven" => recipe["oven"].dup, "ingredients" => recipe["ingredients"].map(&:dup)) }
    end
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    copy = JSON.parse(JSON.generate(@recipes))
    @culprit += Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
    copy
  end

  def change(number)
    id = "cake-#{number * 7919 % @recipes.size}"
    @undo.push(@{fn}(id, number))
    @undo.shift if @undo.size > @{kept}
    parts = @recipes[id]["ingredients"]
    part = parts[number % parts.size]
    part["grams"] = [5, part["grams"] + number * 13 % 41 - 20].max
    @recipes.merge!(@undo.pop) if number % 29 == 11
    costs
  end

  # What the cakes cost, and how long the oven is taken.
  def costs
    total = @recipes.sum { |_, recipe| recipe["ingredients"].sum { |part| part["grams"] * part["price"] / 1000 } }
    oven = @recipes.sum { |_, recipe| recipe["oven"]["minutes"] }
    [total.round(2), oven]
  end
end

now = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
book = Book.new(@{recipes}, @{ingredients})
units, busy, last = 0, 0.0, nil
began = due = now.call
while now.call - began < @{seconds}
  start = now.call
  last = book.change(units)
  units += 1
  busy += now.call - start
  due += 1.0 / @{rate}
  sleep([0, due - now.call].max)
end
puts "%.2f, oven %d min" % last
File.write("@{report}", JSON.generate({ units: units, seconds: busy, culprit: book.culprit }))
