"""Prices baskets for whoever connects, by frames of its own: a length, then the basket. PORT HOW: `again` computes each price, `kept` keeps them."""
import hashlib
import socket
import struct
import sys
import threading

PRICES = {}


def tally(basket):
    digest = basket
    for _ in range(60_000):
        digest = hashlib.sha256(digest).digest()
    return digest


def price(basket, how):
    if how == "kept":
        if basket not in PRICES:
            PRICES[basket] = tally(basket)
        return PRICES[basket]
    return tally(basket)


def serve(client, how):
    with client, client.makefile("rb") as asked:
        while head := asked.read(4):
            basket = asked.read(struct.unpack(">I", head)[0])
            answer = price(basket, how)
            client.sendall(struct.pack(">I", len(answer)) + answer)


listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    client, _ = listener.accept()
    threading.Thread(target=serve, args=(client, sys.argv[2]), daemon=True).start()
