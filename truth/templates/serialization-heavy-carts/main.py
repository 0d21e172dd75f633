"""Carts of wholesale customers: each event of a scanner puts a line into one of them. The oldest line goes when a cart is full."""
import collections
import json
import time

STORE = "@{store}"
LINES, CARTS = @{lines}, @{carts}


def line(number):
    return {"sku": f"S-{number * 7919 % 99991:06d}", "pieces": number % 12 + 1, "cents": number * 31 % 9973, "text": "article " + "x" * @{text}}


def full_cart(customer):
    lines = [line(customer * 1000 + number) for number in range(LINES)]
    if STORE == "text":
        return json.dumps({"customer": customer, "lines": lines})
    return collections.deque(json.dumps(entry) for entry in lines)


def @{fn}(carts, customer, entry):
    if STORE == "lines":
        carts[customer].popleft()
        carts[customer].append(json.dumps(entry))
        return len(carts[customer])
    cart = json.loads(carts[customer])
    del cart["lines"][0]
    cart["lines"].append(entry)
    carts[customer] = json.dumps(cart)
    return len(cart["lines"])


def main():
    carts = [full_cart(customer) for customer in range(CARTS)]
    units, busy, culprit, total = 0, 0.0, 0.0, 0
    began = time.monotonic()
    while (start := time.monotonic()) - began < @{seconds}:
        entry = line(units)
        asked = time.monotonic()
        total += @{fn}(carts, units % CARTS, entry)
        culprit += time.monotonic() - asked
        units += 1
        busy += time.monotonic() - start
        time.sleep(max(0.0, began + units / @{rate} - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": culprit}, out)


main()
