"""The turnstiles of a ski lift: may the bearer of this pass ride?"""
import contextlib
import hashlib
import hmac
import http.server
import json
import logging
import queue
import socket
import threading

OFFICE = "@{work}/@{sock}"
SEAL = b"lift company, valley station"
log = logging.getLogger("gates")


class Desk:
    def __init__(self):
        self.line = socket.socket(socket.AF_UNIX)
        self.line.settimeout(8)
        self.line.connect(OFFICE)
        self.answers = self.line.makefile("r")

    def ask(self, question):
        self.line.sendall(f"{question}\n".encode())
        answer = self.answers.readline()
        if not answer:
            raise OSError("the office hung up")
        return answer.split()


class Office:
    def __init__(self):
        self.free = queue.LifoQueue()

    @contextlib.contextmanager
    def desk(self):
        try:
            desk = self.free.get_nowait()
        except queue.Empty:
            desk = Desk()
        yield desk
        self.free.put(desk)

    def @{fn}(self, number):
        with self.desk() as desk:
            word, _, rides = desk.ask(f"PUNCH {number}")
        if word != "OK":
            raise OSError(f"the office says {word}")
        return int(rides)

    def listen(self, revoked):
        desk = Desk()
        while True:
            _, number = desk.ask("NEWS")
            revoked.add(-int(number))


def sealed(number):
    """The seal that the chip of a pass carries, derived in many steps so that it cannot be guessed."""
    digest = str(number).encode()
    for _ in range(400):
        digest = hmac.digest(SEAL, digest, "sha256")
    return hashlib.blake2b(digest, digest_size=8).hexdigest()


office, revoked = Office(), set()


class Gate(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        number = int(self.path.rpartition("/")[2])
        chip = sealed(number)
        try:
            rides, status = office.@{fn}(number), 200
        except OSError as error:
            log.error("%s", error)
            rides, status = 0, 502
        text = json.dumps({"pass": number, "chip": chip, "rides": rides, "open": status == 200 and number not in revoked}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format, *values):
        log.info(format, *values)


class Gates(http.server.ThreadingHTTPServer):
    request_queue_size = 64


logging.basicConfig(filename="@{work}/gates.log", level=logging.INFO, format="%(asctime)s %(message)s")
if @{news}:
    threading.Thread(target=office.listen, args=[revoked], name="news", daemon=True).start()
Gates(("127.0.0.1", @{port}), Gate).serve_forever()
