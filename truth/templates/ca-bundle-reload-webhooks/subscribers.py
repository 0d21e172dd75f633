"""The hosts of all subscribers: each has an address of its own, and takes what is delivered."""
import socket
import ssl
import threading


def serve(context, raw):
    try:
        raw.settimeout(20)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with context.wrap_socket(raw, server_side=True) as line, line.makefile("rb") as lines:
            while lines.readline():
                length = 0
                while (head := lines.readline().strip().lower()):
                    if head.startswith(b"content-length:"):
                        length = int(head.split(b":")[1])
                lines.read(length)
                line.sendall(b"HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
                break
    except OSError:
        pass


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("@{work}/hooks.pem", "@{work}/hooks.key")
    door = socket.create_server(("0.0.0.0", @{port}), backlog=128)
    while True:
        threading.Thread(target=serve, args=(context, door.accept()[0]), daemon=True).start()


main()
