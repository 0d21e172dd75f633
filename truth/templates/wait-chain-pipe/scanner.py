# Scans a page when told so.
import os
import random
import time

orders = open(os.open("orders", os.O_RDWR))
pages = os.open("@{fifo}", os.O_RDWR)
while True:
    name = orders.readline().strip()
    time.sleep(@{delay} / 1000 * random.uniform(0.8, 1.2))
    os.write(pages, f"page {name}\n".encode())
