"""Places orders, each over a connection of its own: what takes long is not here."""
import socket
import sys
import time


def place_order(number):
    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as connection:
        connection.sendall(b"order %d\n" % number)
        return connection.makefile("rb").readline()


number = 0
while True:
    place_order(number)
    number += 1
    time.sleep(0.03)
