# As site.c, in Python: site.py PORT FOLDER.
import os
import socket
import sys
import threading
import time

latch = threading.Lock()
BLOCK = b"x" * (1 << 22)


def heron_tally():
    total = 1
    for at in range(200000):  # SITE compute heron_tally
        total = (total * 31 + at) % 1000003  # SITE compute heron_tally
    return total


def otter_latch():
    latch.acquire()  # SITE lock otter_latch
    latch.release()  # SITE lock otter_latch: for the interpreter's lock


def finch_flush(file):
    os.pwrite(file, BLOCK, 0)  # SITE file finch_flush
    os.fdatasync(file)  # SITE file finch_flush


def badger_ask(peer):
    peer.sendall(b"?")  # SITE peer badger_ask: for the interpreter's lock
    answer = peer.recv(16)  # SITE peer badger_ask
    if not answer:
        os._exit(0)


def newt_doze():
    time.sleep(0.05)  # SITE timer newt_doze


def near_caller(of, with_what):
    of(*with_what)


def far_caller(of, with_what):
    near_caller(of, with_what)


def work(kind, of, with_what):
    os.write(1, f"{kind} {threading.get_native_id()}\n".encode())
    while True:
        far_caller(of, with_what)
        if kind == "lock":
            time.sleep(0.005)  # SITE rest work


peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
file = os.open(sys.argv[2] + "/file", os.O_CREAT | os.O_RDWR, 0o600)
kinds = {"compute": (heron_tally,), "lock": (otter_latch,), "file": (finch_flush, file), "peer": (badger_ask, peer), "timer": (newt_doze,)}
for kind, (of, *with_what) in kinds.items():
    threading.Thread(target=work, args=(kind, of, with_what)).start()
while True:
    with latch:
        time.sleep(0.05)
    time.sleep(0.002)
