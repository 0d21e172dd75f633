"""The door of a youth club: when has a member to be at home, over the coming nights?"""
import os
import socketserver
import time

DAY = 86400


def @{fn}(first, hour, minute):
    """The end of each night's stay, in seconds since 1970; days behind the end of a month are of the next one."""
    ends = []
    for night in range(@{nights}):
        if night % @{stride} == 0:
            ends.append(time.mktime((2026, 1, first + night, hour, minute, 0, 0, 0, -1)))
        else:
            ends.append(ends[-1] + DAY)
    return ends


def answer(member):
    age = 12 + member % 6
    ends = @{fn}(1 + member % 28, 18 + age // 4, member % 4 * 15)
    longest = max(b - a for a, b in zip(ends, ends[1:]))
    return f"{member} {ends[0]:.0f} {ends[-1]:.0f} {longest:.0f}\n"


class Door(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            self.wfile.write(answer(int(line.split()[1])).encode())


class Service(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


def main():
    if "@{zone}":
        os.environ["TZ"] = "@{zone}"
        time.tzset()
    with Service(("127.0.0.1", @{port}), Door) as service:
        service.serve_forever()


main()
