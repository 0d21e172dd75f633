"""A branch's player takes chapters: a line with the name and the size, then the bytes; it answers with a line."""
import socket
import threading


def take(client):
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while True:
        head = b""
        while not head.endswith(b"\n"):
            byte = client.recv(1)
            if not byte:
                return client.close()
            head += byte
        left = int(head.split()[1])
        while left:
            # The bytes themselves are of no interest here.
            got = client.recv_into(memoryview(SINK)[:min(left, len(SINK))], 0, socket.MSG_TRUNC)
            if not got:
                return client.close()
            left -= got
        client.sendall(b"stored\n")


SINK = bytearray(1 << 20)
with socket.create_server(("127.0.0.1", @{port})) as door:
    while True:
        threading.Thread(target=take, args=(door.accept()[0],), daemon=True).start()
