#!/usr/bin/env python3
"""Upstreams that misbehave, each on its own port of one address, behind TLS unless told.

    faulty.py DIR ADDRESS CASE:PORT[:CERTIFICATE]...

DIR/faulty-ready appears when all listen. CERTIFICATE is the stem of two files in DIR (NAME.pem, NAME.key); "plain" is none; default: server. Connections are counted in DIR/log.
"""
import os
import socket
import ssl
import sys
import threading
import time

DIR, ADDRESS = sys.argv[1], sys.argv[2]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"


def head(c):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = c.recv(4096)
        if not piece:
            return data
        data += piece
    return data


def fine(c):
    while head(c):
        c.sendall(OK)


def cut_before(c):
    head(c)


def cut_in_head(c):
    head(c)
    c.sendall(b"HTTP/1.1 200 OK\r\nContent-Le")


def cut_in_body(c):
    head(c)
    c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nsome of it")


def cut_in_chunks(c):
    head(c)
    c.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")


def silent(c):
    head(c)
    time.sleep(600)


def slow(c):
    """Answers when DIR/go appears."""
    head(c)
    open(os.path.join(DIR, "asked"), "w", encoding="utf-8").close()
    while not os.path.exists(os.path.join(DIR, "go")):
        time.sleep(0.05)
    c.sendall(OK)


def garbage(c):
    head(c)
    c.sendall(bytes(range(256)) * 16)


def long_line(c):
    head(c)
    c.sendall(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 1000000 + b"\r\nContent-Length: 0\r\n\r\n")


def many_fields(c):
    head(c)
    c.sendall(b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % i for i in range(20000)) + b"Content-Length: 0\r\n\r\n")


def smuggled(c):
    head(c)
    c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nok\n\r\n0\r\n\r\n")


def two_lengths(c):
    head(c)
    c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nok\n\n")


def endless_head(c):
    head(c)
    c.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        c.sendall(b"X-More: y\r\n" * 100)


def drips(c):
    """Its head, after a while in which it thinks, and was told so once: a byte every half second."""
    head(c)
    c.sendall(b"HTTP/1.1 103 Early Hints\r\n\r\n")
    time.sleep(2)
    for byte in b"HTTP/1.1 200 OK\r\nX-Drip: %s\r\nContent-Length: 0\r\n\r\n" % (b"y" * 200):
        c.sendall(bytes([byte]))
        time.sleep(0.5)


def endless_interim(c):
    head(c)
    while True:
        c.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 100)


def more_than_said(c):
    head(c)
    c.sendall(OK + b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond")


def serve(case, port, certificate):
    listener = socket.create_server((ADDRESS, port), backlog=64)
    context = None
    if certificate != "plain":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(DIR, certificate + ".pem"), os.path.join(DIR, certificate + ".key"))

    def one(c):
        try:
            if case == "no_tls":
                c.sendall(b"this is no TLS\r\n")
                return
            if case == "stuck":  # amid the handshake
                time.sleep(600)
            if context:
                c = context.wrap_socket(c, server_side=True)
            with open(os.path.join(DIR, "log"), "a", encoding="utf-8") as f:
                f.write(case + "\n")
            globals()[case](c)
        except OSError:
            pass
        finally:
            c.close()

    def accept():
        while True:
            c, _ = listener.accept()
            threading.Thread(target=one, args=(c,), daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()


for argument in sys.argv[3:]:
    parts = argument.split(":")
    serve(parts[0], int(parts[1]), parts[2] if len(parts) > 2 else "server")
open(os.path.join(DIR, "faulty-ready"), "w", encoding="utf-8").close()
threading.Event().wait()
