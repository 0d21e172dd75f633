# Sends an order each now and then is not its business: it converts what it is told, and tells when it is finished.
import os
import time

orders = open(os.open("orders", os.O_RDWR))
answers = os.open("answers", os.O_RDWR)
while True:
    name = orders.readline().strip()
    time.sleep(@{convert} / 1000)
    with open(f"@{outbox}/{name}.tmp", "w") as out:
        out.write(f"converted {name}\n")
    os.rename(f"@{outbox}/{name}.tmp", f"@{outbox}/{name}")
    if @{notify}:
        os.write(answers, (name + "\n").encode())
