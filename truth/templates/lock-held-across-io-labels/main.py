"""The stock of a depot. Pickers take articles; a label goes to each parcel that is full, by way of the printer's driver, a process of its own."""
import os
import socket
import threading
import time

INSIDE = @{inside}


def driver(labels, answers):
    for _ in labels:
        time.sleep(@{delay} / 1000)
        answers.write(b"printed\n")
        answers.flush()
    os._exit(0)


class Depot:
    def __init__(self, to, answers):
        self.@{lock} = threading.Lock()
        self.pieces = {f"A{i}": 1000 for i in range(@{articles})}
        self.printed = 0
        self.to, self.answers = to, answers

    def @{reader}(self, article):
        with self.@{lock}:
            self.pieces[article] -= 1
            left = self.pieces[article]
            if left < 10:
                self.pieces[article] = 1000
            return left

    def ask(self, text):
        self.to.write(text)
        self.to.flush()
        return self.answers.readline()

    def @{fn}(self, parcel):
        with self.@{lock}:
            text = b"parcel %d of %d\n" % (parcel, len(self.pieces))
            if INSIDE:
                self.ask(text)
                self.printed += 1
                return
        self.ask(text)
        with self.@{lock}:
            self.printed += 1

    def print_labels(self):
        parcel = 0
        while True:
            self.@{fn}(parcel)
            parcel += 1
            time.sleep(@{every} / 1000)

    def serve(self, client):
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with client, client.makefile("rb") as lines:
            try:
                for line in lines:
                    left = self.@{reader}(f"A{int(line.split()[-1]) % @{articles}}")
                    start, answer = time.monotonic(), b"left\n"
                    while time.monotonic() - start < @{effort} / 1000:
                        answer = b"left %d\n" % left
                    client.sendall(answer)
            except OSError:
                pass


def main():
    labels_out, labels_in = os.pipe()
    answers_out, answers_in = os.pipe()
    if not os.fork():
        os.close(labels_in)
        os.close(answers_out)
        driver(os.fdopen(labels_out, "rb"), os.fdopen(answers_in, "wb"))
    os.close(labels_out)
    os.close(answers_in)
    depot = Depot(os.fdopen(labels_in, "wb"), os.fdopen(answers_out, "rb"))
    threading.Thread(target=depot.print_labels, name="labels", daemon=True).start()
    with socket.create_server(("127.0.0.1", @{port}), backlog=64) as listener:
        while True:
            threading.Thread(target=depot.serve, args=(listener.accept()[0],), daemon=True).start()


main()
