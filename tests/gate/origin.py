#!/usr/bin/env python3
"""A real upstream for the gateway's tests: HTTP and HTTPS on loopback, with a log of every request that arrived.

    origin.py DIR ADDRESS HTTP_PORT HTTPS_PORT

DIR has server.pem and server.key; DIR/log gets one JSON line per request (method, host, path, headers, body), so that a test can show that nothing arrived. DIR/ready appears when it serves.
"""
import base64
import gzip
import hashlib
import http.server
import json
import os
import socket
import socketserver
import ssl
import struct
import sys
import threading
import time
import urllib.parse

DIR, ADDRESS, HTTP_PORT, HTTPS_PORT = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
LOCK = threading.Lock()
LAST = {"secret": ""}


def log(entry):
    with LOCK, open(os.path.join(DIR, "log"), "a", encoding="utf-8") as f:
        f.write(json.dumps(entry) + "\n")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            out = b""
            while True:
                n = int(self.rfile.readline().split(b";")[0], 16)
                out += self.rfile.read(n)
                self.rfile.readline()
                if n == 0:
                    return out
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def send(self, status, body, kind="text/plain", headers=()):
        if isinstance(body, str):
            body = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def chunk(self, data):
        if isinstance(data, str):
            data = data.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def start_chunks(self, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def secret(self):
        return (self.headers.get("x-api-key") or self.headers.get("authorization") or "").replace("Bearer ", "")

    def reflect(self, query):
        """Sends the credential back in the form that the query names."""
        s = self.secret()
        forms = {
            "raw": s,
            "base64": base64.b64encode(("x" + s).encode()).decode(),
            "url": "".join("%%%02x" % ord(c) for c in s),
            "json": json.dumps({"k": s}),
        }
        form = query.get("form", ["raw"])[0]
        if form == "header":
            self.send(200, "see the header", headers=[("x-reflected", s)])
        elif form == "split":
            self.start_chunks("text/plain")
            for c in "before " + s + " after":
                self.chunk(c)
            self.chunk("")
        else:
            self.send(200, "before " + forms[form] + " after")

    def websocket(self):
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        if self.path.endswith("/extension"):
            self.send_header("Sec-WebSocket-Extensions", "permessage-deflate")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        self.close_connection = True
        while len(head := self.rfile.read(2)) == 2:
            mask = self.rfile.read(4)
            data = bytes(b ^ mask[i % 4] for i, b in enumerate(self.rfile.read(head[1] & 127)))
            self.wfile.write(bytes([0x81, len(data)]) + data)
            self.wfile.flush()

    def say(self, parts):
        """Says what it is told to, in chunks: HEX, or HEX/MS/HEX/... with pauses. Its end comes in one piece with the last. What begins with a zero byte is a message of gRPC's."""
        self.start_chunks("application/grpc" if any(part.startswith("00") for part in parts[::2]) else "text/plain")
        for i, part in enumerate(parts):
            if i % 2:
                time.sleep(int(part) / 1000)
            else:
                data = bytes.fromhex(part)
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data) + (b"0\r\n\r\n" if i + 1 == len(parts) else b""))

    def straddle(self, n):
        """The credential n times, each time half in one record of TLS and half in the next."""
        s = self.secret().encode()
        record, half = 16384, len(s) // 2
        body = (b"\n" * (record - len(s)) + s).join([b""] * (n + 1))
        self.send(200, b"\n" * half + body)

    def provider(self, path, body):
        """Answers as a model's server would, with usage."""
        asked = json.loads(body or b"{}")
        model = asked.get("model", "?")
        if model == "claude-slow":
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"content":[{"type":"text","text":"all of it"}],')
            self.wfile.flush()
            time.sleep(3)
            self.close_connection = True
            return
        if path.startswith("/v1/messages"):
            if asked.get("stream"):
                self.start_chunks("text/event-stream")
                self.chunk('event: message_start\ndata: {"type":"message_start","message":{"model":"%s","usage":{"input_tokens":11,"output_tokens":1}}}\n\n' % model)
                self.chunk('event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":"hi"}}\n\n')
                self.chunk('event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":7}}\n\n')
                self.chunk("")
                return
            self.send(200, json.dumps({"model": model, "content": [{"type": "text", "text": "hi"}], "usage": {"input_tokens": 11, "output_tokens": 7}}), "application/json")
            return
        if asked.get("stream"):
            events = ['data: {"model":"%s","choices":[{"delta":{"content":"hi"}}]}\n\n' % model, "data: [DONE]\n\n"]
            if (asked.get("stream_options") or {}).get("include_usage"):
                events.insert(1, 'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":3}}\n\n')
            if model == "gpt-packed":
                self.send(200, gzip.compress("".join(events).encode()), "text/event-stream", [("Content-Encoding", "gzip")])
                return
            self.start_chunks("text/event-stream")
            for event in events:
                self.chunk(event)
            self.chunk("")
            return
        self.send(200, json.dumps({"model": model, "choices": [{"message": {"content": "hi"}}], "usage": {"prompt_tokens": 5, "completion_tokens": 3}}), "application/json")

    def any(self):
        url = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(url.query)
        if self.headers.get("Upgrade", "").lower() == "websocket":
            log({"method": self.command, "host": self.headers.get("Host"), "path": self.path, "headers": dict(self.headers.items()), "body": ""})
            return self.websocket()
        body = self.body()
        log({"method": self.command, "host": self.headers.get("Host"), "path": self.path, "headers": dict(self.headers.items()), "body": body.decode("latin-1")})
        if self.secret():
            LAST["secret"] = self.secret()
        if url.path == "/reflect":
            return self.reflect(query)
        if url.path == "/last":  # what a client has sent, be it another one
            return self.send(200, "the last was %s." % LAST["secret"])
        if url.path.startswith("/v1/"):
            return self.provider(url.path, body)
        if url.path == "/redirect":
            return self.send(302, "", headers=[("Location", query["to"][0])])
        if url.path == "/big":
            return self.send(200, b"x" * int(query["n"][0]))
        if url.path == "/echo":
            return self.send(200, body)
        if url.path == "/ok/straddle":
            return self.straddle(int(query["n"][0]))
        if url.path == "/ok/part":  # of the credential
            return self.send(int(query["status"][0]), self.secret()[:20], headers=[("Content-Range", r) for r in query.get("range", [])])
        if url.path.startswith("/ok/say/"):
            return self.say(url.path.split("/")[3:])
        if url.path.startswith("/status/"):
            return self.send(int(url.path.rsplit("/", 1)[1]), "")
        return self.send(200, "hello from %s%s\n" % (self.headers.get("Host"), self.path))

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = any


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128


def serve(port, context):
    server = Server((ADDRESS, port), Handler)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()


tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(os.path.join(DIR, "server.pem"), os.path.join(DIR, "server.key"))
serve(HTTP_PORT, None)
serve(HTTPS_PORT, tls)
open(os.path.join(DIR, "ready"), "w", encoding="utf-8").close()
threading.Event().wait()
