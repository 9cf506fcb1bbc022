#!/usr/bin/env python3
"""find_in_memory.py NEEDLE_FILE PID...: looks for the bytes of the file (raw, base64 at each offset, hexadecimal, reversed) in the whole memory of each process, and prints the ids of those that have them.

Needs root. The needle comes in a file and is kept apart from other processes' memory: it must not be in an argument list. A process that cannot be read is an error, not a "no".
"""
import base64
import sys

WHOLE = 1 << 24


def forms(needle):
    yield needle
    yield needle.hex().encode()
    yield needle[::-1]
    for shift in range(3):
        text = base64.b64encode(b"x" * shift + needle)
        yield text[4 if shift else 0:len(text) // 4 * 4 - 4]


def regions(pid):
    with open("/proc/%s/maps" % pid, encoding="utf-8") as f:
        for line in f:
            where, mode = line.split()[:2]
            if mode[0] == "r" and not line.rstrip().endswith(("[vvar]", "[vvar_vclock]", "[vsyscall]")):
                yield tuple(int(x, 16) for x in where.split("-"))


def has(pid, needles):
    read = 0
    with open("/proc/%s/mem" % pid, "rb", buffering=0) as mem:
        for start, end in regions(pid):
            at, tail = start, b""
            while at < end:
                try:
                    mem.seek(at)
                    data = mem.read(min(WHOLE, end - at))
                except OSError:
                    break  # a guard page, or memory that is kept even from here
                if not data:
                    break
                read += len(data)
                if any(n in tail + data for n in needles):
                    return True
                tail = data[-256:]
                at += len(data)
    if not read:
        sys.exit("nothing of process %s could be read" % pid)
    return False


with open(sys.argv[1], "rb") as secret:
    NEEDLES = list(forms(secret.read().strip()))
print(" ".join(pid for pid in sys.argv[2:] if has(pid, NEEDLES)))
