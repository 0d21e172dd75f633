import random
import socket
import threading
import time

PAUSE = 0.002


def serve(client):
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    lines = client.makefile("rb")
    try:
        while lines.readline():
            length = 0
            while head := lines.readline().strip().lower():
                if head.startswith(b"content-length:"):
                    length = int(head.split(b":")[1])
            lines.read(length)
            time.sleep(PAUSE * random.uniform(0.5, 1.5))
            if random.randrange(100) < @{refused}:
                text = b'{"error":"gone","trace":"%s"}' % (b"f3" * random.randrange(100, 900))
                client.sendall(b"HTTP/1.1 410 Gone\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(text) + text)
                break
            client.sendall(b"HTTP/1.1 202 Accepted\r\nContent-Length: 15\r\n\r\n" + b'{"queued":true}')
    except OSError:
        pass
    lines.close()
    client.close()


with socket.create_server(("127.0.0.1", @{port}), backlog=200) as door:
    while True:
        threading.Thread(target=serve, args=(door.accept()[0],), daemon=True).start()
