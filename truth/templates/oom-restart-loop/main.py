"""A queue's runner: tasks go to a worker through a pipe. Where it ends, another one takes its place, and the task is given to it again."""
import hashlib
import json
import os
import random
import signal
import time


class Worker:
    def __init__(self, first_mb):
        self.documents = [bytearray(b"%1000000d" % number) for number in range(first_mb)]
        self.weights = {str(n): random.random() for n in range(@{table} * 10)}

    def @{fn}(self, number):
        document = bytearray(b"%020d" % number * (@{leak_kb} * 50))
        self.documents = (self.documents + [document])[-@{kept}:]
        mark = b""
        for _ in range(@{rounds}):
            mark = hashlib.sha256(mark + document[:4096]).digest()
        return mark.hex()


class Runner:
    def __init__(self):
        self.starts, self.pid = 0, None

    def start(self):
        tasks, self.give = os.pipe()
        self.take, answers = os.pipe()
        first_mb = 0 if self.starts else @{first_mb}
        self.starts += 1
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.give)
            os.close(self.take)
            with open("/sys/fs/cgroup/memory/@{slice}/cgroup.procs", "w") as group:
                group.write(str(os.getpid()))
            worker = Worker(first_mb)
            while task := os.read(tasks, 20):
                os.write(answers, worker.@{fn}(int(task)).encode())
            os._exit(0)
        os.close(tasks)
        os.close(answers)

    def stop(self, number=signal.SIGTERM):
        os.kill(self.pid, number)
        os.close(self.give)
        os.close(self.take)
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)

    def run(self, number):
        """The answer, and the seconds that were lost to workers that ended."""
        lost, start = 0.0, time.monotonic()
        while True:
            try:
                os.write(self.give, b"%020d" % number)
                answer = os.read(self.take, 64)
            except BrokenPipeError:
                answer = b""
            if answer:
                return answer, lost
            print(f"worker {self.pid} ended: {self.stop(0)}; task {number} again", flush=True)
            time.sleep(@{backoff_ms} / 1000)
            self.start()
            lost = time.monotonic() - start


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    runner = Runner()
    runner.start()
    runner.run(0)
    began = due = time.monotonic()
    units, busy, lost = 0, 0.0, 0.0
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        lost += runner.run(units)[1]
        busy += time.monotonic() - start
        units += 1
        due = max(due + 1 / @{rate}, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))
    runner.stop()
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": lost}, out)


main()
