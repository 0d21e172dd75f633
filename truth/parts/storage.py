"""What the machine around the program is made of: storage.py READY WORD…, each WORD one of (in this order of doing)
  share:MNT:FOLDER:DELAY_MS:THREADS:CACHE_S:TYPE      FOLDER of the server, mounted at MNT; each request takes about DELAY_MS
  disk:MNT:SIZE_MB:DELAY_MS:THREADS:COPY              a disk of its own at MNT, with the files of COPY on it; THREADS requests are served at once
  dirty:MNT:BYTES                                     so much of that disk may be dirty
  group:CONTROLLER/NAME:FILE=VALUE:FILE=VALUE…        a control group; DISK in a value is the disk of the folder of the run
  swap:FILE:SIZE_MB
It takes all away when it is ended."""
import ctypes
import os
import random
import shutil
import signal
import stat
import struct
import subprocess
import sys
import threading
import time

LIBC = ctypes.CDLL(None, use_errno=True)
UNDO, LOOPS = [], {}
READY = threading.Event()


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr}")
    return done.stdout.strip()


class Server:
    """The files below `root`, served by the protocol of FUSE; `threads` requests at once, each `delay` seconds long."""

    def __init__(self, mount, root, delay, threads, cache_s, kind):
        self.root, self.delay, self.cache = root, delay, cache_s
        self.nodes, self.numbers, self.lock, self.files = {1: ""}, {"": 1}, threading.Lock(), {}
        self.fd = os.open("/dev/fuse", os.O_RDWR)
        os.makedirs(mount, exist_ok=True)
        options = f"fd={self.fd},rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions,max_read=131072".encode()
        if LIBC.mount(f"storage:/{os.path.basename(root)}".encode(), mount.encode(), kind.encode(), 6, options):
            raise OSError(ctypes.get_errno(), "mount")
        UNDO.append(lambda: run("umount", "-l", mount))
        for _ in range(threads):
            threading.Thread(target=self.serve, daemon=True).start()

    def path(self, node):
        return os.path.join(self.root, self.nodes[node])

    def attributes(self, path):
        s = os.lstat(path)
        return struct.pack("<6Q10I", s.st_ino, s.st_size, s.st_blocks, int(s.st_atime), int(s.st_mtime), int(s.st_ctime), 0, 0, 0,
                           s.st_mode, s.st_nlink, s.st_uid, s.st_gid, 0, 4096, 0)

    def entry(self, parent, name):
        relative = os.path.join(self.nodes[parent], name)
        attributes = self.attributes(os.path.join(self.root, relative))
        with self.lock:
            number = self.numbers.setdefault(relative, len(self.numbers) + 1)
            self.nodes[number] = relative
        return struct.pack("<4Q2I", number, 0, self.cache, self.cache, 0, 0) + attributes

    def serve(self):
        while True:
            try:
                request = os.read(self.fd, 1 << 18)
            except OSError as error:
                if error.errno in (2, 4, 11):
                    continue
                return
            _, code, unique, node = struct.unpack_from("<IIQQ", request)
            body = request[40:]
            if code in (2, 42, 36):
                continue
            try:
                answer, error = self.answer(code, node, body), 0
            except OSError as failed:
                answer, error = b"", -failed.errno
            try:
                os.write(self.fd, struct.pack("<IiQ", 16 + len(answer), error, unique) + answer)
            except OSError:
                pass

    def answer(self, code, node, body):
        if code == 26:
            major, minor, ahead, flags = struct.unpack_from("<4I", body)
            return struct.pack("<4I2H2I2HI28x", 7, min(minor, 36), ahead, flags & (1 | 32 | 1 << 15 | 1 << 22), 128, 100, 131072, 1, 32, 0, 0)
        if READY.is_set() and code not in (18, 29, 25, 17):
            time.sleep(self.delay * random.uniform(0.7, 1.3))
        if code == 1:
            return self.entry(node, body.rstrip(b"\0").decode())
        if code == 3:
            return struct.pack("<QII", self.cache, 0, 0) + self.attributes(self.path(node))
        if code == 4:
            return struct.pack("<QII", self.cache, 0, 0) + self.attributes(self.path(node))
        if code in (14, 27):
            if code == 14:
                with self.lock:
                    if node not in self.files:
                        self.files[node] = os.open(self.path(node), os.O_RDWR)
            return struct.pack("<QIi", node, 2 if self.cache else 0, 0)
        if code == 15:
            _, offset, size = struct.unpack_from("<QQI", body)
            return os.pread(self.files[node], size, offset)
        if code == 16:
            _, offset, size = struct.unpack_from("<QQI", body)
            return struct.pack("<II", os.pwrite(self.files[node], body[40:40 + size], offset), 0)
        if code == 28:
            _, offset, size = struct.unpack_from("<QQI", body)
            out = b""
            for index, name in enumerate(sorted(os.listdir(self.path(node)))[offset:], offset + 1):
                raw = name.encode()
                kind = 4 if os.path.isdir(os.path.join(self.path(node), name)) else 8
                one = struct.pack("<QQII", 1000 + index, index, len(raw), kind) + raw
                one += b"\0" * (-len(one) % 8)
                if len(out) + len(one) > size:
                    break
                out += one
            return out
        if code == 17:
            return struct.pack("<5Q4I24x", 1 << 20, 1 << 19, 1 << 19, 1 << 16, 1 << 15, 4096, 255, 4096, 0)
        if code in (18, 20, 25, 29, 30, 34):
            return b""
        raise OSError(38, "not there")


def share(mount, folder, delay_ms, threads, cache_s, kind):
    os.makedirs(folder, exist_ok=True)
    Server(os.path.abspath(mount), os.path.abspath(folder), float(delay_ms) / 1000, int(threads), int(cache_s), kind)


def disk(mount, size_mb, delay_ms, threads, copy=""):
    folder = os.path.abspath(mount) + ".device"
    os.makedirs(folder)
    os.makedirs(mount, exist_ok=True)
    image = f"{folder}/disk.img"
    with open(image, "wb") as out:
        out.truncate(int(size_mb) << 20)
    run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", image)
    if float(delay_ms):
        inner = folder + ".bus"
        Server(inner, folder, float(delay_ms) / 1000, int(threads), 3600, "fuse")
        image = f"{inner}/disk.img"
    loop = run("losetup", "-f", "--show", "--direct-io=on", image)
    UNDO.append(lambda: run("losetup", "-d", loop))
    run("mount", loop, mount)
    UNDO.append(lambda: leave(mount))
    LOOPS[mount] = "7:" + loop.removeprefix("/dev/loop")
    if copy:
        for name in os.listdir(copy):
            shutil.move(f"{copy}/{name}", f"{mount}/{name}")
        run("sync", "-f", mount)
        for name in os.listdir(mount):
            if os.path.isfile(f"{mount}/{name}"):
                with open(f"{mount}/{name}", "rb") as one:
                    os.posix_fadvise(one.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def leave(mount):
    for _ in range(8):
        try:
            return run("umount", mount)
        except RuntimeError:
            time.sleep(0.1)
    run("umount", "-l", mount)


def dirty(mount, limit):
    folder = f"/sys/class/bdi/{LOOPS[mount]}"

    def put(name, value):
        with open(f"{folder}/{name}", "w") as out:
            out.write(value)

    def undo():
        put("strict_limit", "0")
        put("max_ratio", "100")

    put("strict_limit", "1")
    put("max_bytes", limit)
    UNDO.append(undo)


def group(name, *settings):
    folder = f"/sys/fs/cgroup/{name}"
    os.mkdir(folder)
    disk_below = os.stat(".").st_dev
    UNDO.append(lambda: empty(folder))
    for setting in settings:
        key, _, value = setting.partition("=")
        with open(f"{folder}/{key}", "w") as out:
            out.write(value.replace("DISK", f"{os.major(disk_below)}:{os.minor(disk_below)}"))


def empty(folder):
    for _ in range(60):
        with open(f"{folder}/cgroup.procs") as members:
            for pid in members.read().split():
                try:
                    os.kill(int(pid), signal.SIGKILL)
                except ProcessLookupError:
                    pass
        try:
            return os.rmdir(folder)
        except OSError:
            time.sleep(0.02)


def swap(file, size_mb):
    with open(file, "wb") as out:
        os.fchmod(out.fileno(), 0o600)
        for _ in range(int(size_mb)):
            out.write(bytes(1 << 20))
        os.fsync(out.fileno())
    run("mkswap", file)
    run("swapon", file)
    UNDO.append(lambda: run("swapoff", file))


def main():
    ready, *words = sys.argv[1:]
    LIBC.prctl(1, signal.SIGTERM, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    try:
        for word in words:
            kind, *rest = word.split(":")
            {"share": share, "disk": disk, "dirty": dirty, "group": group, "swap": swap}[kind](*rest)
        READY.set()
        open(ready, "w").close()
        signal.sigwait({signal.SIGTERM, signal.SIGINT})
    finally:
        READY.clear()
        for undo in reversed(UNDO):
            for _ in range(12):
                try:
                    undo()
                    break
                except (OSError, RuntimeError) as error:
                    print(error, flush=True)
                    time.sleep(0.1)
    os._exit(0)


main()
