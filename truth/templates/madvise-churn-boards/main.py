"""Draws the boards of departures, one for each stop that asks: `board 17` in, a line out."""
import mmap
import socketserver
import threading
import time
import zlib

ROW = 4096
ROWS = (@{mb} << 20) // ROW


class Board:
    """The memory of one board: a row for each line of dots."""

    def __init__(self):
        self.memory = mmap.mmap(-1, ROWS * ROW)
        self.used = 0.0
        self.is_held = False

    def row(self, number, dots):
        at = number % ROWS * ROW
        self.memory[at:at + len(dots)] = dots

    def mark(self, number):
        at = number * 7919 % ROWS * ROW
        return zlib.crc32(self.memory[at:at + @{cover}], number)


class Pool:
    def __init__(self):
        self.lock = threading.Lock()
        self.free = [Board() for _ in range(@{boards} + @{spares})]
        for board in self.free:
            board.row(0, b"Departures")
            board.is_held = True

    def take(self):
        with self.lock:
            return self.free.pop()

    def give(self, board):
        board.used = time.monotonic()
        if @{idle} == 0:
            self.@{fn}(board)
        with self.lock:
            self.free.append(board)

    def @{fn}(self, board):
        board.memory.madvise(mmap.MADV_DONTNEED)
        board.is_held = False

    def tidy(self):
        while True:
            time.sleep(0.25)
            with self.lock:
                old = [board for board in self.free if board.is_held and time.monotonic() - board.used > @{idle}]
                for board in old:
                    self.free.remove(board)
            for board in old:
                self.@{fn}(board)
            with self.lock:
                # In front: they are the last that anybody needs.
                self.free[:0] = old


pool = Pool()


def departures(stop):
    lines = [f"{6 + (stop + i) % 17:02}:{i * 7 % 60:02} line {(stop * 3 + i) % 40} to place {(stop + i * 11) % 300}" for i in range(24)]
    return sorted(lines)


def @{fn2}(board, stop):
    """Each line of dots is drawn, so that nothing is left of the stop before."""
    texts = [(text * 20).encode()[:@{cover}] for text in departures(stop)]
    for number in range(ROWS):
        board.row(number, texts[number % 24])
    board.is_held = True
    sum_ = 0
    for number in range(@{marks}):
        sum_ ^= board.mark(number)
    return sum_


class Ask(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            board = pool.take()
            try:
                sum_ = @{fn2}(board, int(line.split()[1]) % 5000)
            finally:
                pool.give(board)
            self.wfile.write(b"drawn %08x\n" % sum_)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


if @{idle}:
    threading.Thread(target=pool.tidy, daemon=True).start()
Server(("127.0.0.1", @{port}), Ask).serve_forever()
