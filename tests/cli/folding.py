#!/usr/bin/env python3
"""folding.py FOLDER: a file system (FUSE) on FOLDER with one file, .env, that is found in any case, and has another number under each spelling. Says "ready"; serves until it is unmounted."""
import ctypes
import os
import stat
import struct
import sys

LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR, BATCH_FORGET = 1, 2, 3, 14, 15, 17, 18, 25, 26, 27, 28, 29, 42
NAME, DATA = b".env", b"fake-secret\n"
spellings = []  # a file's number is 2 and its place here


def attributes(number):
    mode, size = (stat.S_IFDIR | 0o755, 0) if number == 1 else (stat.S_IFREG | 0o644, len(DATA))
    return struct.pack("<6Q10I", number, size, 1, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def lookup(name):
    if name.lower() != NAME:
        return None
    if name not in spellings:
        spellings.append(name)
    number = 2 + spellings.index(name)
    return struct.pack("<4Q2I", number, 0, 0, 0, 0, 0) + attributes(number)


def listing(offset):
    entry = struct.pack("<QQII", 2, 1, len(NAME), stat.S_IFREG >> 12) + NAME
    return entry + bytes(-len(entry) % 8) if offset == 0 else b""


def answer(opcode, node, body):
    """What it says, or None: there is no such thing."""
    if opcode == INIT:
        return struct.pack("<IIIIHHI", 7, 31, 0, 0, 0, 0, 65536) + bytes(40)
    if opcode == LOOKUP:
        return lookup(body.split(b"\0")[0])
    if opcode == GETATTR:
        return struct.pack("<QII", 0, 0, 0) + attributes(node)
    if opcode in (OPEN, OPENDIR):
        return bytes(16)
    if opcode in (READ, READDIR):
        offset = struct.unpack_from("<Q", body, 8)[0]
        return DATA[offset:] if opcode == READ else listing(offset)
    return bytes(80) if opcode == STATFS else b""


def main():
    fd = os.open("/dev/fuse", os.O_RDWR)
    options = "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other" % fd
    if ctypes.CDLL(None, use_errno=True).mount(b"folding", os.fsencode(sys.argv[1]), b"fuse.folding", 6, options.encode()) < 0:
        sys.exit("mount: " + os.strerror(ctypes.get_errno()))
    print("ready", flush=True)
    while True:
        try:
            request = os.read(fd, 1 << 20)
        except OSError:
            return  # unmounted
        opcode, unique, node = struct.unpack_from("<4xIQQ", request)
        if opcode in (FORGET, BATCH_FORGET):
            continue
        out = answer(opcode, node, request[40:])
        os.write(fd, struct.pack("<IiQ", 16 + len(out or b""), -2 if out is None else 0, unique) + (out or b""))


main()
