"""Sells fishing licences: GET /licence/N. Whoever is at the door is handed to one of a pool of workers, each with a line to the waters' keeper."""
import concurrent.futures
import hashlib
import json
import socket
import struct
import threading

desk = threading.local()


class Keeper:
    def __init__(self):
        line = socket.socket(socket.AF_UNIX)
        line.settimeout(8)
        line.connect("@{work}/@{sock}")
        self.stream = line.makefile("rwb")

    def @{fn}(self, question):
        text = json.dumps(question).encode()
        self.stream.write(struct.pack(">I", len(text)) + text)
        self.stream.flush()
        (length,) = struct.unpack(">I", self.stream.read(4))
        return json.loads(self.stream.read(length))


def seal(number):
    """The seal of a licence, derived in many turns so that nobody guesses it."""
    return hashlib.pbkdf2_hmac("sha256", str(number).encode(), b"the waters", @{turns}, 12).hex()


def licence(number):
    if not hasattr(desk, "keeper"):
        desk.keeper = Keeper()
    said = desk.keeper.@{fn}({"lake": number % @{lakes}, "angler": number})
    return {"licence": number, "seal": seal(number), **said}


def sell(angler):
    with angler, angler.makefile("rb") as lines:
        try:
            request = lines.readline().split()
            while lines.readline().strip():
                pass
            status, body = "200 OK", licence(int(request[1].rpartition(b"/")[2]))
        except (OSError, ValueError, IndexError, struct.error) as error:
            status, body = "502 Bad Gateway", {"error": str(error)}
        text = json.dumps(body)
        angler.sendall(f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\nConnection: close\r\n\r\n{text}".encode())


def main():
    door = socket.create_server(("127.0.0.1", @{port}), backlog=128)
    with concurrent.futures.ThreadPoolExecutor(@{workers}, thread_name_prefix="desk") as desks:
        while True:
            angler, _ = door.accept()
            angler.settimeout(20)
            desks.submit(sell, angler)


main()
