"""The firewall writes its log into a named pipe: in bursts, so many lines a second."""
import os
import random
import time

LOG = "@{work}/@{log}"
chance = random.Random(5)


def line():
    verdict = "DROP" if chance.randrange(@{dropped}) == 0 else "ACCEPT"
    return (f"<4>Mar {chance.randint(1, 28):2} {chance.randrange(24):02}:{chance.randrange(60):02}:{chance.randrange(60):02} gate kernel: VERDICT={verdict} "
            f"IN=eth0 OUT=eth1 MAC=52:54:00:{chance.randrange(256):02x}:{chance.randrange(256):02x}:01 SRC=10.{chance.randrange(@{hosts}) % 250}.7."
            f"{chance.randrange(@{hosts}) // 250} DST=192.168.3.{chance.randrange(250)} LEN={chance.randint(40, 1500)} TOS=0x00 PREC=0x00 TTL={chance.randint(40, 64)} "
            f"ID={chance.randrange(65536)} PROTO=TCP SPT={chance.randint(1024, 65535)} DPT={chance.choice((22, 25, 80, 443, 3389))} "
            f"WINDOW={chance.randrange(65536)} RES=0x00 SYN=1 URGP=0\n")


os.mkfifo(LOG)
burst = @{burst} / 1000
blocks = ["".join(line() for _ in range(max(1, int(@{lines} * 1000 * burst)))).encode() for _ in range(20)]
with open(LOG, "wb", buffering=0) as log:
    began, n = time.monotonic(), 0
    try:
        while True:
            rest = memoryview(blocks[n % len(blocks)])
            while rest:
                rest = rest[log.write(rest):]
            n += 1
            time.sleep(max(0.0, began + n * burst - time.monotonic()))
    except BrokenPipeError:
        pass
