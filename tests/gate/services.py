#!/usr/bin/env python3
"""What real clients need to talk to: a git server, registries of npm and pip, streams, and services that are not HTTP.

    services.py DIR ADDRESS

On ADDRESS: HTTP and HTTPS on 80 and 443 (DIR/server.pem, DIR/server.key), a service that speaks first on 5000. DIR/git has repositories, DIR/npm and DIR/pip packages. Requests are
logged in DIR/log as origin.py does it. DIR/services-ready appears when it serves.
"""
import base64
import hashlib
import http.server
import json
import os
import socketserver
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse

DIR, ADDRESS = sys.argv[1], sys.argv[2]
LOCK = threading.Lock()
BLOCK = bytes(range(256)) * 256


def log(entry):
    with LOCK, open(os.path.join(DIR, "log"), "a", encoding="utf-8") as f:
        f.write(json.dumps(entry) + "\n")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def pieces(self):
        """The body as it comes."""
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            while True:
                n = int(self.rfile.readline().split(b";")[0], 16)
                if n == 0:
                    while self.rfile.readline().strip():
                        pass
                    return
                yield self.rfile.read(n)
                self.rfile.readline()
        left = int(self.headers.get("Content-Length") or 0)
        while left:
            piece = self.rfile.read(min(left, 65536))
            if not piece:
                return
            left -= len(piece)
            yield piece

    def send(self, status, body=b"", kind="text/plain", headers=()):
        if isinstance(body, str):
            body = body.encode()
        self.send_response(status)
        if status not in (204, 304):
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD" and status not in (204, 304):
            self.wfile.write(body)

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def start_chunks(self, kind, headers=()):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()

    def git(self, url):
        body = b"".join(self.pieces())
        env = dict(os.environ, GIT_PROJECT_ROOT=os.path.join(DIR, "git"), GIT_HTTP_EXPORT_ALL="1", REQUEST_METHOD=self.command, PATH_INFO=url.path[len("/git"):],
                   QUERY_STRING=url.query, CONTENT_TYPE=self.headers.get("Content-Type", ""), CONTENT_LENGTH=str(len(body)), REMOTE_USER="tester", REMOTE_ADDR="127.0.0.1",
                   GIT_PROTOCOL=self.headers.get("Git-Protocol", ""), HTTP_CONTENT_ENCODING=self.headers.get("Content-Encoding", ""))
        out = subprocess.run(["git", "http-backend"], input=body, env=env, stdout=subprocess.PIPE, check=False).stdout
        head, _, rest = out.partition(b"\r\n\r\n")
        status, fields, kind = 200, [], "text/plain"
        for line in head.decode().split("\r\n"):
            name, _, value = line.partition(": ")
            if name == "Status":
                status = int(value.split()[0])
            elif name == "Content-Type":
                kind = value
            else:
                fields.append((name, value))
        self.send(status, rest, kind, fields)

    def npm(self, path):
        if path.endswith(".tgz"):
            with open(os.path.join(DIR, "npm", "p.tgz"), "rb") as f:
                return self.send(200, f.read(), "application/octet-stream")
        name = urllib.parse.unquote(path[len("/npm/"):])
        with open(os.path.join(DIR, "npm", "p.tgz"), "rb") as f:
            data = f.read()
        version = {"name": name, "version": "1.0.0", "dist": {"tarball": "https://%s/npm/%s/-/p-1.0.0.tgz" % (self.headers["Host"], name), "shasum": hashlib.sha1(data).hexdigest(),
                                                              "integrity": "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()}}
        return self.send(200, json.dumps({"name": name, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}), "application/json")

    def pip(self, path):
        wheel = "hello-1.0-py3-none-any.whl"
        if path.endswith(".whl"):
            with open(os.path.join(DIR, "pip", wheel), "rb") as f:
                return self.send(200, f.read(), "application/octet-stream")
        return self.send(200, '<!DOCTYPE html><html><body><a href="/pip/files/%s">%s</a></body></html>' % (wheel, wheel), "text/html")

    def websocket(self):
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        self.close_connection = True
        while True:
            head = self.rfile.read(2)
            if len(head) < 2 or head[0] & 15 == 8:
                return
            mask = self.rfile.read(4)
            data = bytes(b ^ mask[i % 4] for i, b in enumerate(self.rfile.read(head[1] & 127)))
            self.wfile.write(bytes([0x81, len(data)]) + data)
            self.wfile.flush()

    def events(self, n, pause):
        self.start_chunks("text/event-stream", [("Cache-Control", "no-cache")])
        for i in range(n):
            self.chunk(b"data: %d\n\n" % i)
            time.sleep(pause)
        self.chunk(b"")

    def download(self, n):
        """n blocks of 64 KiB, chunked."""
        self.start_chunks("application/octet-stream")
        for _ in range(n):
            self.chunk(BLOCK)
        self.chunk(b"")

    def trailers(self):
        self.start_chunks("text/plain", [("Trailer", "x-checksum")])
        self.chunk(b"body\n")
        self.wfile.write(b"0\r\nx-checksum: abc\r\n\r\n")

    def hints(self):
        self.wfile.write(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n")
        self.wfile.flush()
        time.sleep(0.1)
        self.send(200, "after the hints\n")

    def upload(self):
        total, digest = 0, hashlib.sha256()
        for piece in self.pieces():
            total += len(piece)
            digest.update(piece)
        self.send(200, "%d %s %s\n" % (total, digest.hexdigest(), "chunked" if self.headers.get("Transfer-Encoding") else "length"))

    def talk(self):
        """Answers each piece of the body when it comes, before the next is sent."""
        self.start_chunks("text/plain")
        for piece in self.pieces():
            self.chunk(b"got " + piece)
        self.chunk(b"")

    def any(self):
        url = urllib.parse.urlsplit(self.path)
        query = {k: int(v[0]) for k, v in urllib.parse.parse_qs(url.query).items() if v[0].isdigit()}
        log({"method": self.command, "host": self.headers.get("Host"), "path": self.path, "version": self.request_version, "headers": dict(self.headers.items())})
        if self.headers.get("Upgrade", "").lower() == "websocket":
            return self.websocket()
        if url.path.startswith("/git/"):
            return self.git(url)
        if url.path.startswith("/npm/"):
            return self.npm(url.path)
        if url.path.startswith("/pip/"):
            return self.pip(url.path)
        if url.path.startswith("/status/"):
            return self.send(int(url.path.rsplit("/", 1)[1]), "some body", headers=[("X-Kept", "yes")])
        plain = {"/events": lambda: self.events(query.get("n", 5), 0.2), "/download": lambda: self.download(query["n"]), "/trailers": self.trailers, "/hints": self.hints,
                 "/upload": self.upload, "/talk": self.talk}
        if url.path in plain:
            return plain[url.path]()
        for _ in self.pieces():
            pass
        return self.send(200, "served %s\n" % self.path)

    do_GET = do_HEAD = do_POST = do_PUT = any


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass  # a client that has gone


class SpeaksFirst(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(b"220 ready\r\n")
        for line in self.rfile:
            self.wfile.write(line.upper())


class TcpServer(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


def serve(server, context=None):
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()


tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(os.path.join(DIR, "server.pem"), os.path.join(DIR, "server.key"))
serve(Server((ADDRESS, 80), Handler))
serve(Server((ADDRESS, 443), Handler), tls)
serve(TcpServer((ADDRESS, 5000), SpeaksFirst))
open(os.path.join(DIR, "services-ready"), "w", encoding="utf-8").close()
threading.Event().wait()
