"""Threads that wait in all ways. Asked by a line on standard input, it tells their stacks as it knows them itself."""
import asyncio
import os
import socket
import sys
import threading
import time

sys.setrecursionlimit(5000)
waiting = threading.Semaphore(0)


def waits_for_lock():
    lock = threading.Lock()
    lock.acquire()
    waiting.release()
    lock.acquire()


def waits_for_pipe():
    reader, _writer = os.pipe()
    waiting.release()
    os.read(
        reader,
        1,
    )


def waits_for_socket():
    ours, _theirs = socket.socketpair()
    waiting.release()
    with ours as connection:
        try:
            connection.recv(1)
        finally:
            pass


def waits_for_timer():
    waiting.release()
    time.sleep(
        1000
    )


def waits_for_condition():
    event = threading.Event()
    waiting.release()
    event.wait(1000)


def waits_deep(depth=400):
    if depth == 0:
        waits_for_timer()
    else:
        waits_deep(depth - 1)


class Größe:
    """Names that are not ASCII, of one, two and four bytes a character."""

    def ändern(self):
        self.数える()

    def 数える(self):
        (lambda: self.𠮷_warten())()

    def 𠮷_warten(self):
        def innen():
            waits_for_timer()

        innen()


def generates():
    yield 1
    # Lines between,
    # far between.
    yield waits_for_timer()


def delegates():
    yield from generates()


def waits_in_generator():
    return [[one for one in delegates()] for _ in range(2)]


class Held:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def __lt__(self, other):
        waits_for_timer()


def waits_in_comparison():
    with Held() as one, \
            Held() as other:
        sorted([one, other])


async def waits_in_coroutine():
    await asyncio.sleep(0)

    async def inner():
        waits_for_timer()

    await asyncio.gather(inner())


def waits_in_loop():
    async def waits():
        waiting.release()
        await asyncio.sleep(1000)

    asyncio.run(waits())


def waits_in_made_code():
    text = "def made():\n" + "    pass\n" * 300 + "    waits_for_timer()\nmade()\n"
    exec(compile(text, "<made>", "exec"), {"waits_for_timer": waits_for_timer})


def waits_in_handler():
    try:
        raise ValueError
    except ValueError as error:
        try:
            raise KeyError from error
        finally:
            for _ in range(3):
                waits_for_timer()


WAITS = [
    waits_for_lock,
    waits_for_pipe,
    waits_for_socket,
    waits_for_timer,
    waits_for_condition,
    waits_deep,
    Größe().ändern,
    waits_in_generator,
    waits_in_comparison,
    lambda: asyncio.run(waits_in_coroutine()),
    waits_in_loop,
    waits_in_made_code,
    waits_in_handler,
]


def tell():
    for _ in sys.stdin:
        stacks = sys._current_frames()
        for thread in threading.enumerate():
            if thread is threading.current_thread():
                continue
            print("thread", thread.native_id)
            frame = stacks[thread.ident]
            while frame is not None:
                code = frame.f_code
                name = getattr(code, "co_qualname", code.co_name)
                print("frame", name, code.co_filename, frame.f_lineno, sep="\t")
                frame = frame.f_back
        print("told", flush=True)


if __name__ == "__main__":
    for wait in WAITS:
        threading.Thread(target=wait, daemon=True).start()
        waiting.acquire()
    threading.Thread(target=tell, daemon=True).start()
    if sys.argv[1:] == ["fork"]:
        # It ends when its parent does.
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(writer)
            os.read(reader, 1)
            os._exit(0)
        print("child", child)
    print("waiting", flush=True)
    waits_for_timer()
