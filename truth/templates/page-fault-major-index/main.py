"""Looks up to which network, and to which land, an address belongs: in a table as large as a few hundred megabytes, which is mapped."""
import mmap
import os
import socketserver
import struct
import zlib

PAGE = 4096


class Networks:
    def __init__(self, path):
        with open(path, "rb") as table:
            self.map = mmap.mmap(table.fileno(), 0, prot=mmap.PROT_READ)
            self.pages = len(self.map) // PAGE // @{hot}
            if @{warm}:
                os.posix_fadvise(table.fileno(), 0, self.pages * PAGE, os.POSIX_FADV_WILLNEED)
                print(sum(self.map[at * PAGE] for at in range(self.pages)))
        self.map.madvise(mmap.MADV_RANDOM)

    def @{fn}(self, key):
        at = key % self.pages
        for _ in range(@{hops} - 1):
            at = (struct.unpack_from("<Q", self.map, at * PAGE + key % 500 * 8)[0] ^ key) % self.pages
        return self.map[at * PAGE:at * PAGE + 256]


class Ask(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            land, key = 0, zlib.crc32(line) << 31 | zlib.adler32(line)
            for _ in range(@{asks}):
                key = (key * 6364136223846793005 + 1442695040888963407) % (1 << 64)
                entry = self.server.networks.@{fn}(key >> 11)
                for _ in range(@{rounds}):
                    land = zlib.crc32(entry, land)
            self.wfile.write(b"%d\n" % (land % 240))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 100
    networks = Networks("@{work}/@{data}")


Server(("127.0.0.1", @{port}), Ask).serve_forever()
