#!/usr/bin/env python3
"""Inside a sandbox: makes the host that gets the credential say bytes of our choice, and prints all that can be seen of how they come back.

    oracle.py h1|h2|ws TEXT...      a line for each: the sizes of chunks, frames or reads; for ws also whether it was late
    oracle.py delay HEX             milliseconds until all of it was there, while the answer goes on; the best of five
    oracle.py slowly N TEXT         reads an answer that has the credential N times, with rests; prints how often TEXT is in it
"""
import socket
import ssl
import struct
import sys
import time

HOST = "api.test"


def connect(alpn):
    s = socket.create_connection(("127.0.0.1", 3128), 10)
    s.sendall(b"CONNECT %s:443 HTTP/1.1\r\nHost: %s:443\r\n\r\n" % (HOST.encode(), HOST.encode()))
    until(s, b"\r\n\r\n")
    context = ssl.create_default_context()
    context.set_alpn_protocols([alpn])
    return context.wrap_socket(s, server_hostname=HOST)


def until(s, mark, got=b""):
    while mark not in got:
        piece = s.recv(65536)
        if not piece:
            raise EOFError(got)
        got += piece
    return got


def ask(s, path):
    s.sendall(b"GET %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (path.encode(), HOST.encode()))


def chunks(got):
    """The chunks that are there, as sizes and bytes."""
    body, sizes, data = got.split(b"\r\n\r\n", 1)[1], [], b""
    while b"\r\n" in body:
        size, rest = body.split(b"\r\n", 1)
        n = int(size, 16)
        if n == 0 or len(rest) < n + 2:
            break
        sizes.append(n)
        data += rest[:n]
        body = rest[n + 2:]
    return sizes, data


def h1(texts):
    s = connect("http/1.1")
    for text in texts:
        ask(s, "/ok/say/" + ("\n" + text).encode().hex())
        sizes, data = chunks(until(s, b"\r\n0\r\n\r\n"))
        print("chunks", *sizes, "as it was" if data == b"\n" + text.encode() else "changed")


def literal(name, value):
    n = len(value)
    return bytes([0x10, len(name)]) + name + (bytes([n]) if n < 127 else bytes([127, n - 127])) + value


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def h2(texts):
    s = connect("h2")
    s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0))
    got, stream = b"", 1
    for text in texts:
        path = "/ok/say/" + ("\n" + text).encode().hex()
        head = literal(b":method", b"GET") + literal(b":scheme", b"https") + literal(b":authority", HOST.encode()) + literal(b":path", path.encode())
        s.sendall(frame(1, 5, stream, head))
        sizes, over = [], False
        while not over:
            while len(got) < 9 or len(got) < 9 + int.from_bytes(got[:3], "big"):
                got += s.recv(65536)
            n, kind, flags, of = int.from_bytes(got[:3], "big"), got[3], got[4], struct.unpack(">I", got[5:9])[0]
            got = got[9 + n:]
            if kind == 4 and not flags & 1:
                s.sendall(frame(4, 1, 0))
            if kind == 0 and of == stream:
                sizes.append(n)
            over = of == stream and (kind == 3 or (kind in (0, 1) and flags & 1))
        print("frames", *sizes)
        stream += 2


def ws(texts):
    s = connect("http/1.1")
    s.sendall(b"GET /ok/ws HTTP/1.1\r\nHost: api.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
              b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
    until(s, b"\r\n\r\n")
    for text in texts:
        text = b"\n" + text.encode()
        started, sizes = time.monotonic(), []
        s.sendall(bytes([0x81, 0x80 | len(text)]) + b"\0\0\0\0" + text)
        while sum(sizes) < len(text) + 2:
            sizes.append(len(s.recv(65536)))
        print("reads", *sizes, "late" if time.monotonic() - started >= 0.045 else "at once")


def until_size(s, size, got):
    while len(chunks(got)[1]) < size:
        piece = s.recv(65536)
        if not piece:
            raise EOFError(got)
        got += piece
    return got


def delay(text):
    best = 1e9
    # a row of messages has nothing else between them
    other = b"\0\0\0\0\1\n" if text.startswith("00") else b"\n"
    for _ in range(5):
        s = connect("http/1.1")
        ask(s, "/ok/say/" + other.hex() + "/200/" + text + "/400/" + other.hex())
        got = until_size(s, len(other), until(s, b"\r\n\r\n"))
        started = time.monotonic()
        got = until_size(s, len(other) + len(text) // 2, got)
        best = min(best, time.monotonic() - started)
        until(s, b"\r\n0\r\n\r\n", got)
        s.close()
    print(round(best * 1000) - 200)


def slowly(n, text):
    s = connect("http/1.1")
    ask(s, "/ok/straddle?n=" + n)
    got, size = bytearray(), int(n) * 16384
    while len(got) < size:
        before = len(got)
        got += s.recv(65536)
        if len(got) >> 20 != before >> 20:
            time.sleep(0.2)
    print(got.count(text.encode()))


mode, arguments = sys.argv[1], sys.argv[2:]
if mode in ("delay", "slowly"):
    {"delay": delay, "slowly": slowly}[mode](*arguments)
else:
    {"h1": h1, "h2": h2, "ws": ws}[mode](arguments)
