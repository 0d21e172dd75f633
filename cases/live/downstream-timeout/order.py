"""Asks for the stock three times at most: order.py PORT."""
import select
import socket
import sys

for _ in range(3):
    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as stock:
        stock.sendall(b"GET /stock/7 HTTP/1.1\r\nHost: stock\r\n\r\n")
        waiting = select.poll()
        waiting.register(stock, select.POLLIN)
        if waiting.poll(500):
            print(stock.recv(512))
            break
