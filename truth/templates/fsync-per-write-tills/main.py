"""The server of the tills: a receipt is priced and booked."""
import socket
import struct
import threading


def gross(number):
    return sum((number * 7919 + i * 104729) % 2999 for i in range(40))


def book(booking, number):
    booking.sendall(struct.pack(">II", number, gross(number)))
    return struct.unpack(">II", booking.recv(8, socket.MSG_WAITALL))[1]


def serve(till):
    till.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with till, socket.create_connection(("127.0.0.1", @{booking})) as booking, till.makefile("rb") as lines:
        booking.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            for line in lines:
                till.sendall(b"booked %d\n" % book(booking, int(line.split()[-1])))
        except (OSError, struct.error):
            pass


def main():
    with socket.create_server(("127.0.0.1", @{port}), backlog=64) as listener:
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


main()
