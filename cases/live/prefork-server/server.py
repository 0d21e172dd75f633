"""A web server that forks three workers; each request's audit line goes to one more child, and is answered once that has it on disk.

    server.py PORT LOG [grouped]    grouped: the child takes all lines that wait, and syncs once in 250 ms
"""
import os
import socket
import sys
import time

WORKERS = 3


def audit(requests, log, grouped):
    """The audit child: a line comes with the worker's number in front; that worker is told when the line is kept."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    synced = time.monotonic()
    while True:
        line, worker = requests.recvfrom(4096)
        os.write(file, line)
        if not grouped:
            os.fdatasync(file)
        elif time.monotonic() - synced > 0.25:
            os.fdatasync(file)
            synced = time.monotonic()
        requests.sendto(b"kept", worker)


def serve(listener, own, audit_address):
    while True:
        connection, _ = listener.accept()
        with connection:
            request = connection.recv(4096)
            own.sendto(request.split(b"\r\n")[0] + b"\n", audit_address)
            own.recv(16)
            connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nok\n")


def main():
    port, log, grouped = int(sys.argv[1]), sys.argv[2], len(sys.argv) > 3
    address = f"\0audit-{os.getpid()}"
    requests = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    requests.bind(address)
    listener = socket.create_server(("127.0.0.1", port))
    children = []
    for number in range(WORKERS + 1):
        child = os.fork()
        if child == 0:
            if number == WORKERS:
                audit(requests, log, grouped)
            own = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            own.bind(f"{address}-{number}")
            serve(listener, own, address)
        children.append(child)
    print(*children, flush=True)
    try:
        os.wait()
    finally:
        for child in children:
            os.kill(child, 9)


main()
