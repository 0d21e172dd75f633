"""Two virus scanners, a port each. INSTREAM is followed by pieces with their lengths, the last of which is empty, and answered by a line; VERSIONS is
answered when there are new signatures."""
import socket
import struct
import threading
import time
import zlib

HUNG = @{hung}
asked, lock = [0], threading.Lock()


def falls_silent():
    with lock:
        asked[0] += 1
        return HUNG > 0 and asked[0] % HUNG == 0


def verdict(stream):
    mark = 0
    while length := struct.unpack(">I", stream.read(4))[0]:
        mark = zlib.crc32(stream.read(length), mark)
    time.sleep(@{taking} / 1000)
    return b"stream: OK %08x\n" % mark


def serve(client, shaky):
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        with client, client.makefile("rb") as stream:
            for command in stream:
                if command != b"INSTREAM\n":
                    continue
                text = verdict(stream)
                if shaky and falls_silent():
                    stream.read()
                    return
                client.sendall(text)
    except (OSError, struct.error):
        pass


def listen(port, shaky):
    door = socket.create_server(("127.0.0.1", port), backlog=100)
    while True:
        threading.Thread(target=serve, args=(door.accept()[0], shaky), daemon=True).start()


threading.Thread(target=listen, args=(@{east}, False), daemon=True).start()
listen(@{west}, True)
