"""Finds a door of a bank of lockers for a parcel: each door's controller is asked for its state, by frames of its bus."""
import socketserver
import threading
import time

LEVELS = {"TRACE": 0, "INFO": 1, "WARN": 2}
FRAME = @{frame}


class Log:
    def __init__(self, path, level):
        self.file = open(path, "ab", buffering=0)
        self.level = LEVELS[level]
        self.hold = threading.Lock()

    def wants(self, level):
        return LEVELS[level] >= self.level

    def write(self, level, text):
        if self.wants(level):
            now = time.time()
            line = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now * 1e6) % 1000000:06} {level:5} bus {text}\n"
            with self.hold:
                self.file.write(line.encode())


LOG = Log("@{work}/@{log}", "@{level}")


def crc(frame):
    total = 0xFFFF
    for i in range(0, len(frame), 16):
        total = (total * 31 + sum(frame[i:i + 16])) & 0xFFFF
    return total


class Door:
    """The controller of a door, as the simulator of its maker has it."""

    def __init__(self, number):
        self.number, self.turns = number, 0

    def answer(self, frame):
        self.turns += 1
        state = bytes((self.number, self.turns & 255, frame[2], (self.turns * 7 + self.number) % 5))
        body = state + bytes((i * self.number + self.turns) & 255 for i in range(FRAME // 16)) * 16
        return body[:FRAME]


class Bus:
    def __init__(self):
        self.doors = [Door(number) for number in range(1, @{doors} + 1)]
        self.hold = threading.Lock()

    def @{fn}(self, way, door, frame):
        if not LOG.wants("TRACE"):
            return
        LOG.write("TRACE", f"{way} door {door} {len(frame)} bytes")
        for at in range(0, len(frame), 16):
            part = frame[at:at + 16]
            shown = "".join(chr(c) if 32 <= c < 127 else "." for c in part)
            LOG.write("TRACE", f"{way} {at:04x}  {part.hex(' ')}  |{shown}|")

    def ask(self, door, order):
        frame = bytes((door.number, 0x41, order & 255)) + order.to_bytes(4, "big")
        self.@{fn}("->", door.number, frame)
        answer = door.answer(frame)
        self.@{fn}("<-", door.number, answer)
        return answer, crc(answer)

    def free(self, order):
        best = None
        with self.hold:
            for door in self.doors:
                answer, check = self.ask(door, order)
                if best is None or (answer[3], check) < best[:2]:
                    best = answer[3], check, door.number
        return best[2]


BUS = Bus()


class Counter(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            order = int(b"".join(line.split()[1:2]) or 0)
            door = BUS.free(order)
            LOG.write("INFO", f"order {order} gets door {door} for {self.client_address[1]}")
            self.wfile.write(f"door {door}\n".encode())


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server(("127.0.0.1", @{port}), Counter).serve_forever()
