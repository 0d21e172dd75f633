import asyncio
import hashlib

orders = {}


class Order:
    def __init__(self, key):
        self.key, self.lines = key, set()
        asyncio.get_running_loop().call_later(@{hold} / 1000, self.settle)

    def settle(self):
        del orders[self.key]
        text = b"taken %s %s\n" % (self.key, self.mark)
        for line in self.lines:
            if not line.transport.is_closing():
                line.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(text) + text)


class Line(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.got = transport, b""

    def data_received(self, data):
        self.got += data
        while b"\r\n\r\n" in self.got:
            head, _, rest = self.got.partition(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split()[0])
            if len(rest) < length:
                return
            self.got = rest[length:]
            self.@{fn}(head.split()[1].rsplit(b"/", 1)[1], rest[:length])

    def @{fn}(self, key, body):
        if key not in orders:
            orders[key] = Order(key)
        orders[key].mark = hashlib.sha1(body).hexdigest().encode()
        orders[key].lines.add(self)


async def main():
    server = await asyncio.get_running_loop().create_server(Line, "127.0.0.1", @{port}, backlog=128)
    await server.serve_forever()


asyncio.run(main())
