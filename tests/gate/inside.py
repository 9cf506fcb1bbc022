#!/usr/bin/env python3
"""Small clients that the gateway's suites run inside a sandbox: inside.py WHAT ARG..."""
import base64
import os
import socket
import ssl
import sys
import threading
import time


def connect_tls(host, port=443, alpn=None, patience=10):
    """Through the proxy variable's address, as a client that knows proxies."""
    s = socket.create_connection(("127.0.0.1", 3128), patience)
    s.sendall(b"CONNECT %s:%d HTTP/1.1\r\nHost: %s:%d\r\n\r\n" % (host.encode(), port, host.encode(), port))
    head = b""
    while b"\r\n\r\n" not in head:
        piece = s.recv(1)
        if not piece:
            break
        head += piece
    if b" 200 " not in head.split(b"\r\n")[0]:
        sys.exit("proxy: " + head.decode())
    context = ssl.create_default_context()
    if alpn:
        context.set_alpn_protocols([alpn])
    return context.wrap_socket(s, server_hostname=host)


def direct(host, port):
    return socket.create_connection((host, int(port)), 10)


def websocket(host, *messages):
    s = connect_tls(host)
    s.sendall(b"GET /ws HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n"
              % (host.encode(), base64.b64encode(os.urandom(16))))
    f = s.makefile("rb")
    print(f.readline().decode().strip())
    while f.readline().strip():
        pass
    for m in messages:
        mask, data = os.urandom(4), m.encode()
        s.sendall(bytes([0x81, 0x80 | len(data)]) + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))
        head = f.read(2)
        print(f.read(head[1]).decode())


def websocket_h2(host, *messages):
    """The same by an extended CONNECT of HTTP/2 (RFC 8441)."""
    def frame(kind, flags, stream, payload):
        return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload

    def literal(name, value):
        return bytes([0, len(name)]) + name.encode() + bytes([len(value)]) + value.encode()

    s = connect_tls(host, alpn="h2")
    head = [(":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"), (":authority", host), (":path", "/ws"), ("sec-websocket-version", "13")]
    s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") + frame(1, 4, 1, b"".join(literal(*f) for f in head)))
    s.settimeout(5)
    f, got, left, answered = s.makefile("rb"), b"", list(messages), False
    while not answered or left or len(got) < sum(2 + len(m) for m in messages):
        h = f.read(9)
        payload, kind, flags, stream = f.read(int.from_bytes(h[:3], "big")), h[3], h[4], int.from_bytes(h[5:9], "big")
        if kind == 4 and not flags & 1:
            s.sendall(frame(4, 1, 0, b""))
        if kind in (3, 7) or (stream == 1 and kind == 1 and payload[:1] != b"\x88"):
            return print("refused", kind, payload)
        if stream == 1 and kind == 1:
            answered = True
            print("200")
        if stream == 1 and kind == 0:
            got += payload
        if answered and left and (kind == 1 or kind == 0):
            data = left.pop(0).encode()
            s.sendall(frame(0, 0, 1, bytes([0x81, 0x80 | len(data)]) + b"\0\0\0\0" + data))
    while got:
        n = got[1]
        print(got[2:2 + n].decode())
        got = got[2 + n:]


def speaks_first(host, port):
    """Reads before it writes."""
    s = direct(host, port)
    s.settimeout(5)
    f = s.makefile("rwb")
    print(f.readline().decode().strip())
    f.write(b"hello\r\n")
    f.flush()
    print(f.readline().decode().strip())


def events(host):
    """Prints how many pauses between events could be seen."""
    s = connect_tls(host)
    s.sendall(b"GET /events?n=5 HTTP/1.1\r\nHost: %s\r\n\r\n" % host.encode())
    times, f = [], s.makefile("rb")
    for line in f:
        if line.startswith(b"data: "):
            times.append(time.monotonic())
        if line.startswith(b"data: 4"):
            break
    print(len(times), sum(b - a > 0.1 for a, b in zip(times, times[1:])))


def talk(host):
    """A body that goes on only when the answer to its last piece has come."""
    s = connect_tls(host)
    s.sendall(b"POST /talk HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\n" % host.encode())
    s.settimeout(5)
    f = s.makefile("rb")
    for word in (b"one", b"two", b"three"):
        s.sendall(b"%x\r\n%s\r\n" % (len(word), word))
        for line in f:
            if line.startswith(b"got "):
                print(line.decode().strip())
                break
    s.sendall(b"0\r\n\r\n")


def connect10(host):
    """CONNECT as old urllibs write it: HTTP/1.0, no Host."""
    s = direct("127.0.0.1", 3128)
    s.sendall(b"CONNECT %s:443 HTTP/1.0\r\n\r\n" % host.encode())
    print(s.recv(4096).split(b"\r\n")[0].decode())
    t = ssl.create_default_context().wrap_socket(s, server_hostname=host)
    t.sendall(b"GET /old HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % host.encode())
    print(t.makefile("rb").read().decode().split("\r\n\r\n", 1)[1].strip())


def socks(host, port):
    """For ssh's ProxyCommand: carries stdin and stdout through SOCKS5."""
    s = direct("127.0.0.1", 3128)
    s.sendall(b"\5\1\0")
    s.recv(2)
    name = host.encode()
    s.sendall(b"\5\1\0\3" + bytes([len(name)]) + name + int(port).to_bytes(2, "big"))
    if s.recv(10)[1] != 0:
        sys.exit("SOCKS said no")
    s.settimeout(None)

    def up():
        while True:
            data = os.read(0, 65536)
            if not data:
                s.shutdown(socket.SHUT_WR)
                return
            s.sendall(data)
    threading.Thread(target=up, daemon=True).start()
    while True:
        data = s.recv(65536)
        if not data:
            return
        os.write(1, data)


def idle(count, url_host):
    """Holds many connections that say nothing, then asks for something on one more. Prints how many it held, and what came."""
    held = []
    for _ in range(int(count)):
        try:
            held.append(socket.create_connection(("127.0.0.1", 3128), 5))
        except OSError:
            for s in held[-8:]:  # room for one more
                s.close()
            del held[-8:]
            break
    s = connect_tls(url_host)
    s.sendall(b"GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % url_host.encode())
    print(len(held), s.recv(12).decode())


def heads(count, url_host):
    """Begins many requests with large heads and ends none, then asks for something. Prints the answers to the first kind that came, and what came to the last."""
    held, refused = [], set()
    for _ in range(int(count)):
        s = socket.create_connection(("127.0.0.1", 3128), 5)
        s.sendall(b"GET http://%s/ HTTP/1.1\r\nHost: %s\r\nX: %s" % (url_host.encode(), url_host.encode(), b"x" * 60000))
        held.append(s)
    for s in held:
        s.setblocking(False)
        try:
            refused.add(s.recv(12).decode())
        except BlockingIOError:
            pass
    s = connect_tls(url_host, patience=40)  # behind a bridge it waits until those that were refused have been hung up on
    s.sendall(b"GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % url_host.encode())
    print(*refused, "then", s.recv(12).decode())


def tunnel(host):
    """Opens a connection, says so, and then waits until it is closed."""
    s = connect_tls(host)
    s.sendall(b"GET / HTTP/1.1\r\nHost: %s\r\n\r\n" % host.encode())
    print("open", s.recv(12).decode(), flush=True)
    s.settimeout(20)
    started = time.monotonic()
    try:
        while s.recv(65536):
            pass
        print("closed", flush=True)
    except socket.timeout:
        print("still open after %d s" % (time.monotonic() - started), flush=True)
    except OSError:
        print("closed", flush=True)


def twice(host, go):
    """Two requests on one connection, the second when the file is there."""
    s = connect_tls(host)
    f = s.makefile("rb")
    for word in ("open", "again"):
        s.sendall(b"GET / HTTP/1.1\r\nHost: %s\r\n\r\n" % host.encode())
        status, length = f.readline().split(b" ")[1].decode(), 0
        for line in iter(f.readline, b"\r\n"):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        f.read(length)
        print(word, status, flush=True)
        while not os.path.exists(go):
            time.sleep(0.02)


def hold(host):
    """A websocket that says nothing, until it is closed."""
    s = connect_tls(host)
    s.sendall(b"GET /ws HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n"
              % (host.encode(), base64.b64encode(os.urandom(16))))
    print("open", s.recv(4096).split(b" ")[1].decode(), flush=True)
    s.settimeout(60)
    try:
        while s.recv(4096):
            pass
    except OSError as e:
        print(type(e).__name__)
    print("closed", flush=True)


def say(host, text):
    """Says these bytes (escapes are read) in TLS to the host, or for "-" to the proxy itself. Prints the first line of the answer."""
    s = direct("127.0.0.1", 3128) if host == "-" else connect_tls(host)
    s.settimeout(3)
    try:
        s.sendall(text.encode().decode("unicode_escape").encode("latin-1"))
        print(s.recv(4096).split(b"\r\n")[0].decode("latin-1"))
    except OSError as e:
        print(type(e).__name__)


globals()[sys.argv[1]](*sys.argv[2:])
