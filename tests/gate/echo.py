#!/usr/bin/env python3
"""Speaks first, then says in upper case what it hears, and logs how many bytes a connection brought: echo.py PORT LOG"""
import socket, sys, threading

listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("0.0.0.0", int(sys.argv[1])))
listener.listen(64)
print("ready", flush=True)


def serve(s):
    n = 0
    try:
        s.sendall(b"hi ")
        while piece := s.recv(65536):
            n += len(piece)
            if n < 1000:
                s.sendall(piece.upper())
    except OSError:
        pass
    with open(sys.argv[2], "a") as f:
        f.write("%d\n" % n)


while True:
    s, _ = listener.accept()
    threading.Thread(target=serve, args=(s,), daemon=True).start()
