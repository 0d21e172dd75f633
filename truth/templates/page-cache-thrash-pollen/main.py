"""Says which pollen is on a trap's slide: compares it with grains of the reference collection."""
import os
import socketserver
import zlib

GRAIN = @{kb} << 10
MASK = (1 << 64) - 1


class Collection:
    def __init__(self, path):
        self.file = os.open(path, os.O_RDONLY)
        self.count = int(os.fstat(self.file).st_size // GRAIN * @{season})
        for at in range(0, self.count * GRAIN, 1 << 20):
            os.pread(self.file, 1 << 20, at)

    def @{fn}(self, number):
        return os.pread(self.file, GRAIN, number % self.count * GRAIN)

    def identify(self, slide):
        best, which, state = -1, 0, slide * 0x9E3779B97F4A7C15 & MASK | 1
        for _ in range(@{grains}):
            state ^= state << 13 & MASK
            state ^= state >> 7
            state ^= state << 17 & MASK
            picture = self.@{fn}(state >> 11)
            like = zlib.adler32(picture[::16], slide & 0xFFFF)
            if like > best:
                best, which = like, (state >> 11) % self.count
        return f"grain {which} likeness {best}\n"


class Trap(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            self.wfile.write(self.server.collection.identify(int(line.split()[-1])).encode())


class Service(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True

    def __init__(self, address, collection):
        self.collection = collection
        super().__init__(address, Trap)


def main():
    with open("/sys/fs/cgroup/memory/@{slice}/cgroup.procs", "w") as group:
        group.write(str(os.getpid()))
    with Service(("127.0.0.1", @{port}), Collection("@{work}/@{collection}")) as service:
        service.serve_forever()


main()
