import heapq
import selectors
import socket
import time


class Prices:
    def __init__(self, port):
        self.selector, self.clients, self.leaving, self.number = selectors.DefaultSelector(), {}, [], 0
        self.listener = socket.create_server(("127.0.0.1", port), backlog=200)
        self.selector.register(self.listener, selectors.EVENT_READ, self.accept)

    def accept(self, listener):
        client, _ = listener.accept()
        self.number += 1
        self.clients[self.number] = client
        self.selector.register(client, selectors.EVENT_READ, lambda sock, number=self.number: self.@{fn}(sock, number))

    def @{fn}(self, client, number):
        line = client.recv(1000)
        if line:
            client.sendall(b"%d.%02d\n" % (len(line) * 7, number % 100))
            return
        self.selector.unregister(client)
        if @{closes}:
            heapq.heappush(self.leaving, (time.monotonic() + @{drain}, number))

    def run(self):
        while True:
            for key, _ in self.selector.select(0.1):
                key.data(key.fileobj)
            while self.leaving and self.leaving[0][0] <= time.monotonic():
                self.clients.pop(heapq.heappop(self.leaving)[1]).close()


Prices(@{port}).run()
