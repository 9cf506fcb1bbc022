#!/usr/bin/env python3
"""A proxy that takes every name for this machine and logs what it was asked: proxy.py PORT LOG"""
import socket, sys, threading

listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", int(sys.argv[1])))
listener.listen(64)
print("ready", flush=True)


def carry(a, b):
    try:
        while piece := a.recv(65536):
            b.sendall(piece)
    except OSError:
        pass
    try:
        b.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def serve(s):
    head = b""
    while b"\r\n\r\n" not in head:
        head += s.recv(4096)
    line = head.split(b"\r\n")[0].decode()
    with open(sys.argv[2], "a") as f:
        f.write(line + "\n")
    method, target, _ = line.split(" ")
    port = int((target if method == "CONNECT" else target.split("/")[2]).rsplit(":", 1)[1])
    try:
        up = socket.create_connection(("127.0.0.1", port))
    except OSError:
        s.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
        return
    if method == "CONNECT":
        # with the first bytes of a server that speaks first in the same packet
        s.sendall(b"HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n" + (up.recv(3) if port == 8022 else b""))
    else:
        up.sendall(head)
    threading.Thread(target=carry, args=(up, s), daemon=True).start()
    carry(s, up)


while True:
    s, _ = listener.accept()
    threading.Thread(target=serve, args=(s,), daemon=True).start()
