"""The chargers' side: takes an image, and acknowledges it."""
import socket
import threading


def take(door):
    part = bytearray(1 << 20)
    with door:
        while True:
            head = b""
            while not head.endswith(b"\n"):
                byte = door.recv(1)
                if not byte:
                    return
                head += byte
            left = int(head.split()[-1])
            while left:
                # The flash's writer is a stub: nothing looks at the bytes.
                left -= door.recv_into(part, min(left, len(part)), socket.MSG_TRUNC)
            door.sendall(b"flashed\n")


server = socket.create_server(("127.0.0.1", @{port}))
while True:
    connection, _ = server.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    threading.Thread(target=take, args=(connection,), daemon=True).start()
