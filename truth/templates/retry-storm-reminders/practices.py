"""The systems of doctors' practices, behind one gate: each takes reminders while it is not shut, and tells which have been read out."""
import socket
import threading
import time

BEGAN = time.monotonic()
POSTED = {}


def shut(practice):
    return ((time.monotonic() - BEGAN) / @{period} + practice / @{practices}) % 1 < @{shut}


def answer(method, path):
    parts = path.strip("/").split("/")
    if method == "POST":
        time.sleep(@{taking} / 1000)
        if shut(int(parts[1])):
            return "503 Service Unavailable", b'{"state": "shut"}'
        POSTED[parts[2]] = time.monotonic()
        return "202 Accepted", b'{"state": "posted"}'
    time.sleep(0.001)
    read = time.monotonic() - POSTED.get(parts[2], 0) > 0.15
    return "200 OK", b'{"state": "read"}' if read else b'{"state": "posted"}'


def serve(line):
    with line, line.makefile("rb") as asked:
        while first := asked.readline():
            method, path, _ = first.decode().split()
            size = 0
            while (header := asked.readline().strip()):
                name, _, value = header.partition(b":")
                if name.lower() == b"content-length":
                    size = int(value)
            asked.read(size)
            state, body = answer(method, path)
            line.sendall(f"HTTP/1.1 {state}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)


def main():
    door = socket.create_server(("127.0.0.1", @{clinic}), backlog=64)
    while True:
        line, _ = door.accept()
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(line,), daemon=True).start()


main()
