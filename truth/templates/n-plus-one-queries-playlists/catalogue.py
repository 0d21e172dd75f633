"""The radio's database behind a small gate: a line is a query, the answer is a line: rows by tabs, their fields by semicolons."""
import socketserver
import sqlite3
import threading
import time

DATA = sqlite3.connect(":memory:", check_same_thread=False)
LOCK = threading.Lock()


def fill():
    DATA.execute("create table @{people} (id integer primary key, name text, town text)")
    DATA.execute("create table tracks (id integer primary key, title text, seconds integer, by_id integer)")
    DATA.execute("create table lists (id integer, place integer, track integer)")
    DATA.execute("create index by_list on lists (id)")
    DATA.executemany("insert into @{people} values (?, ?, ?)", [(n, f"Band {n * 37 % 997}", f"Town {n % 61}") for n in range(3000)])
    DATA.executemany("insert into tracks values (?, ?, ?, ?)", [(n, f"Song {n}", 120 + n * 7 % 200, n * 31 % 3000) for n in range(9000)])
    DATA.executemany("insert into lists values (?, ?, ?)", [(n, place, (n * 131 + place * 17) % 9000) for n in range(50) for place in range(@{length})])


class Session(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            time.sleep(@{far_us} / 1e6)
            with LOCK:
                rows = DATA.execute(line.decode()).fetchall()
            self.wfile.write("\t".join(";".join(map(str, row)) for row in rows).encode() + b"\n")


class Gate(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


fill()
Gate(("127.0.0.1", @{port}), Session).serve_forever()
