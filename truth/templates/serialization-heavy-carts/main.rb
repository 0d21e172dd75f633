# Carts of wholesale customers: each event of a scanner puts a line into one of them. The oldest line goes when a cart is full.
require 'json'

LINES = @{lines}
CARTS = @{carts}

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

def line(number)
  { sku: format('S-%06d', number * 7919 % 99_991), pieces: number % 12 + 1, cents: number * 31 % 9973, text: "article #{'x' * @{text}}" }
end

def full_cart(customer)
  lines = Array.new(LINES) { |number| line(customer * 1000 + number) }
  return JSON.generate(customer: customer, lines: lines) if '@{store}' == 'text'

  lines.map { |entry| JSON.generate(entry) }
end

def @{fn}(carts, customer, entry)
  if '@{store}' == 'lines'
    carts[customer].shift
    carts[customer] << JSON.generate(entry)
    return carts[customer].size
  end
  cart = JSON.parse(carts[customer])
  cart['lines'].shift
  cart['lines'] << entry
  carts[customer] = JSON.generate(cart)
  cart['lines'].size
end

carts = Array.new(CARTS) { |customer| full_cart(customer) }
units = total = 0
busy = culprit = 0.0
began = now
while (start = now) - began < @{seconds}
  entry = line(units)
  asked = now
  total += @{fn}(carts, units % CARTS, entry)
  culprit += now - asked
  units += 1
  busy += now - start
  rest = began + units / @{rate}.to_f - now
  sleep rest if rest.positive?
end
File.write('@{report}', JSON.generate(units: units, seconds: busy, culprit: culprit))
