"""Asks a redis-server for what it just told it, from two connections, until its standard input ends; each answer is checked.

    client.py PORT      prints "N right, N wrong" at the end
"""
import socket
import sys
import threading

counts = {"right": 0, "wrong": 0}
lock = threading.Lock()
over = threading.Event()


def ask(number):
    right = wrong = 0
    connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=10)
    answers = connection.makefile("rb")
    at = 0
    while not over.is_set():
        at += 1
        key, value = f"key-{number}", f"value-{at}"
        try:
            connection.sendall(f"SET {key} {value}\r\nGET {key}\r\n".encode())
            told = [answers.readline(), answers.readline(), answers.readline()]
            same = told == [b"+OK\r\n", f"${len(value)}\r\n".encode(), f"{value}\r\n".encode()]
        except OSError as error:
            print(error, file=sys.stderr)
            wrong += 1
            break
        right, wrong = right + same, wrong + (not same)
    with lock:
        counts["right"] += right
        counts["wrong"] += wrong


threads = [threading.Thread(target=ask, args=(number,)) for number in range(2)]
for thread in threads:
    thread.start()
sys.stdin.read()
over.set()
for thread in threads:
    thread.join()
print(f"{counts['right']} right, {counts['wrong']} wrong")
