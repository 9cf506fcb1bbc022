#!/usr/bin/env python3
"""An upstream that does what its path says, over TLS or not, and logs what reached it.

upstream.py PORT LOG [CERT KEY [h2 | silent]]

h2: speaks HTTP/2, and refuses each request when it is complete. silent: takes connections, and never says a word.
"""
import base64, gzip, hashlib, socket, ssl, sys, threading, time, zlib

port, log_path = int(sys.argv[1]), sys.argv[2]
context = None
mode = sys.argv[5] if len(sys.argv) > 5 else ""
if len(sys.argv) > 4:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3], sys.argv[4])
    context.set_alpn_protocols(sys.argv[5:6] or ["http/1.1"])
lock = threading.Lock()
connections = 0
went = threading.Event()  # somebody asked for /go
said = ""  # the key that they had


def log(text):
    with lock, open(log_path, "a") as f:
        f.write(text + "\n")


class Conn:
    def __init__(self, sock):
        self.sock, self.buf = sock, b""

    def more(self):
        piece = self.sock.recv(65536)
        if not piece:
            raise EOFError
        self.buf += piece

    def until(self, mark):
        while mark not in self.buf:
            self.more()
        head, self.buf = self.buf.split(mark, 1)
        return head

    def take(self, n):
        while len(self.buf) < n:
            self.more()
        piece, self.buf = self.buf[:n], self.buf[n:]
        return piece

    def send(self, data):
        self.sock.sendall(data)


def answer(c, body, status="200 OK", extra=(), length=True):
    head = ["HTTP/1.1 " + status] + list(extra)
    if length:
        head.append("Content-Length: %d" % len(body))
    c.send(("\r\n".join(head) + "\r\n\r\n").encode() + body)


def switch(c, headers):
    key = headers.get("sec-websocket-key", "") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    c.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + base64.b64encode(hashlib.sha1(key.encode()).digest()) + b"\r\n\r\n")


def read_body(c, headers):
    if headers.get("transfer-encoding") == "chunked":
        body = b""
        while True:
            n = int(c.until(b"\r\n"), 16)
            if n == 0:
                trailers = []
                while (line := c.until(b"\r\n")):
                    trailers.append(line.decode())
                return body, trailers
            body += c.take(n)
            c.until(b"\r\n")
    return c.take(int(headers.get("content-length", 0))), []


def in_halves(c, headers, path, secret):
    """Stops amid the key until /go was asked for, and adds the key that came with that."""
    half, kind = len(secret) // 2, "application/grpc" if path == "/halves-grpc" else "text/plain"
    went.clear()
    if path.startswith("/halves-ws"):
        switch(c, headers)
        first = half if path == "/halves-ws-cut" else len(secret)
        c.send(bytes([0x02 if first == half else 0x82, first]) + secret[:half].encode())
    else:
        c.send(b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n" % kind.encode())
        begin = b"\0" + len(secret).to_bytes(4, "big") if kind.endswith("grpc") else b"key "
        c.send(b"%x\r\n%s\r\n" % (half + len(begin), begin + secret[:half].encode()))
    went.wait(30)
    rest = secret[half:] + ("\0\0\0\0" + chr(len(said)) if kind.endswith("grpc") else "\n")
    if path.startswith("/halves-ws"):
        begin = bytes([0x80, len(secret) - half]) if path == "/halves-ws-cut" else b""
        c.send(begin + secret[half:].encode() + bytes([0x81, len(said)]) + said.encode())
        return False
    c.send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(rest + said), (rest + said).encode()))
    return True


def serve_one(c, number):
    global said
    head = c.until(b"\r\n\r\n").decode()
    lines = head.split("\r\n")
    method, target, _ = lines[0].split(" ")
    headers = {k.lower(): v for k, v in (l.split(": ", 1) for l in lines[1:])}
    path = target.split("?")[0]
    if path.startswith("http://"):
        path = "/" + path.split("/", 3)[3]
    log("conn %d %s" % (number, " ~ ".join(lines)))
    secret = headers.get("x-api-key", "")
    if path == "/early":
        answer(c, b"no need", "413 Too Large", ["Connection: close"])
        return False
    if path == "/unread":
        # reads no body, as many do not where none is due: it is the next request, unless there is none
        answer(c, b"unread", extra=["X-Conn: %d" % number])
        if headers.get("connection") == "close":
            return False
        log("smuggled %r" % c.take(1))
        return False
    if path == "/ws-unmeant":
        switch(c, {"sec-websocket-key": "another"})
        log("unjudged %r" % c.take(1))
        return False
    if path == "/ws-unsaid":
        c.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
        log("unjudged %r" % c.take(1))
        return False
    if path == "/ws":
        switch(c, headers)
        c.send(c.take(5).upper() + b"!")
        return False
    if path == "/ws-split":
        switch(c, headers)
        half = len(secret) // 2
        for first, text in ((0x01, secret[:half]), (0x89, "ping"), (0x80, secret[half:]), (0x81, secret[:half]), (0x81, secret[half:]), (0x81, " end")):
            c.send(bytes([first, len(text)]) + text.encode())
            time.sleep(0.005)
        return False
    if path == "/ws-masked":
        mask = b"\x01\x02\x03\x04"
        switch(c, headers)
        c.send(bytes([0x81, 0x80 | len(secret)]) + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(secret.encode())))
        return False
    if path.startswith("/halves"):
        return in_halves(c, headers, path, secret)
    body, trailers = read_body(c, headers)
    if body or trailers:
        log("body %d %s %s" % (len(body), body[:80].decode(errors="replace"), ",".join(trailers)))
    if path == "/echo":
        answer(c, head.encode() + b"\r\n\r\n" + body)
    elif path == "/reflect":
        answer(c, b"key " + secret.encode() + b" b64 " + base64.b64encode(secret.encode()) + b" end", "200 " + secret, ["X-Echo: " + secret])
    elif path == "/reflect-split":
        c.send(b"HTTP/1.1 103 Early\r\nX-Early: " + secret.encode() + b"\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for ch in secret:
            c.send(b"1\r\n" + ch.encode() + b"\r\n")
            time.sleep(0.002)
        c.send(b"0\r\nX-Trail: " + secret.encode() + b"\r\n\r\n")
    elif path == "/reflect-gzip":
        answer(c, gzip.compress(b"key " + secret.encode() * 3), extra=["Content-Encoding: gzip"])
    elif path == "/reflect-deflate":
        answer(c, zlib.compress(b"key " + secret.encode() * 3), extra=["Content-Encoding: deflate"])
    elif path in ("/grpc", "/grpc-told", "/grpc-flag", "/connect-told", "/grpc-text", "/grpc-text-flag"):
        squeezed = path not in ("/grpc", "/grpc-text") or headers.get("grpc-encoding", "identity") != "identity"
        message = gzip.compress(secret.encode()) if squeezed else secret.encode()
        told = {"/grpc-told": ["grpc-encoding: gzip"], "/connect-told": ["connect-content-encoding: gzip"]}.get(path, [])
        kind = "connect+json" if path.startswith("/connect") else "grpc"
        body = bytes([squeezed]) + len(message).to_bytes(4, "big") + message
        if "text" in path:
            body, kind = base64.b64encode(body), "grpc-web-text+proto"
        answer(c, body, extra=["Content-Type: application/" + kind] + told)
    elif path == "/name":
        answer(c, b"named", extra=["X-%s: 1" % secret])
    elif path == "/charset":
        text = headers.get("accept", "") + headers.get("accept-charset", "")
        name = "utf-16" if "utf-16" in text.lower() else "UTF-8"
        answer(c, secret.encode(name), extra=['Content-Type: application/json; Charset="%s"' % name])
    elif path == "/charset-forced":
        answer(c, secret.encode("utf-16"), extra=["Content-Type: text/plain; charset=UTF-16LE"])
    elif path == "/charset-hidden":
        answer(c, secret.encode("utf-16"), extra=["Content-Type: text/plain"])
    elif path == "/numbers":
        answer(c, ("%s\n%s" % (secret.encode().hex(":"), secret.encode().hex(" "))).encode())
    elif path == "/reflect-br":
        answer(c, b"\x0b\x02\x80hello\x03", extra=["Content-Encoding: br"])
    elif path == "/gzip-cut":
        answer(c, gzip.compress(b"x" * 100000)[:60], extra=["Content-Encoding: gzip"])
    elif path == "/bomb":
        answer(c, gzip.compress(b"\0" * 50000000), extra=["Content-Encoding: gzip"])
    elif path == "/big":
        answer(c, b"b" * 8000000)
    elif path == "/close-body":
        answer(c, b"until close", extra=["Connection: close"], length=False)
        return False
    elif path == "/cut":
        c.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")
        return False
    elif path == "/cut-head":
        c.send(b"HTTP/1.1 200 O")
        return False
    elif path == "/smuggle":
        c.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
    elif path == "/extra":
        c.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\npoisoned")
    elif path == "/bye":
        answer(c, b"bye")
        return False
    elif path == "/none":
        c.send(b"HTTP/1.1 204 No Content\r\n\r\n")
    elif path == "/not-modified":
        c.send(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n")
    elif path == "/head":
        c.send(b"HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n")
    elif path == "/ranges":
        c.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nAccept-Ranges: bytes\r\n\r\nhello")
    elif path == "/interims":
        c.send(b"HTTP/1.1 103 Early\r\nX: y\r\n\r\n" * 5000)
        answer(c, b"at last")
    elif path == "/trap":
        answer(c, b"trap")
        c.until(b"\r\n\r\n")
        log("trapped")
        return False
    elif path == "/go":
        said = secret
        went.set()
        answer(c, b"went")
    elif path == "/slow":
        time.sleep(0.3)
        answer(c, b"slow")
    elif path.startswith("/think/"):  # for so many seconds
        time.sleep(int(path[7:]))
        answer(c, b"thought")
    elif path == "/v1/chat/completions":
        answer(c, b'{"id":"x","usage":{"prompt_tokens":11,"completion_tokens":22,"total_tokens":33}}', extra=["Content-Type: application/json"])
    elif path == "/cut/v1/chat/completions":
        c.send(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"choices":[{"message":{"content":"all of it"}}],')
        return False
    elif path == "/gone/v1/chat/completions":
        return False
    elif path == "/late/v1/chat/completions":
        time.sleep(1)
        return False
    elif path in ("/done/v1/chat/completions", "/open/v1/chat/completions"):
        # a stream that does not say what it used; one of them says that it is over, and neither ends
        c.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + b'data: {"choices":[]}\n\n' * 3)
        if path[1:5] == "done":
            c.send(b"data: [DONE]\n\n")
        time.sleep(1)
        return False
    elif path == "/error/v1/chat/completions":
        answer(c, b'{"error":{}}', "500 Oh", ["Content-Type: application/json"])
    elif path == "/dumb/v1/chat/completions":
        answer(c, b'{"choices":"%s"}' % (b"x" * 400), extra=["Content-Type: application/json"])
    else:
        answer(c, b"hello " + path.encode(), extra=["X-Conn: %d" % number])
    return True


def refuse_all(c):
    """HTTP/2: RST_STREAM with REFUSED_STREAM, when a stream's last frame is here."""
    c.take(24)
    c.send(bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
    while True:
        head = c.take(9)
        c.take(int.from_bytes(head[:3], "big"))
        if head[3] == 4 and not head[4]:
            c.send(bytes([0, 0, 0, 4, 1, 0, 0, 0, 0]))
        if head[3] in (0, 1) and head[4] & 1:
            log("refused")
            c.send(bytes([0, 0, 4, 3, 0]) + head[5:] + bytes([0, 0, 0, 7]))


def serve(sock, number):
    try:
        if mode == "silent":
            time.sleep(600)
        if context:
            sock = context.wrap_socket(sock, server_side=True)
        c = Conn(sock)
        if mode == "h2":
            refuse_all(c)
        while serve_one(c, number):
            pass
    except (EOFError, OSError, ssl.SSLError, ValueError) as e:
        if not isinstance(e, EOFError):
            log("error %s" % e)
    finally:
        try:
            if context:
                sock.unwrap()
        except (OSError, ValueError, AttributeError):
            pass
        sock.close()


listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("0.0.0.0", port))
listener.listen(512)
print("ready", flush=True)
while True:
    s, _ = listener.accept()
    # else what is written just before a close with unread input may never leave: the kernel holds it back, then resets
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connections += 1
    threading.Thread(target=serve, args=(s, connections), daemon=True).start()
