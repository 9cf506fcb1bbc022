#!/usr/bin/env python3
"""A mock of a model's server, on loopback: mock.py PORT NAME [READY]. Makes the file READY when it listens, answers as Anthropic, OpenAI or Gemini do, and says on stderr which credential it was sent."""
import http.server
import json
import sys

PORT, NAME = int(sys.argv[1]), sys.argv[2]


class Mock(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        key = self.headers.get("x-api-key") or self.headers.get("x-goog-api-key") or self.headers.get("authorization") or "none"
        print("%s: %s, credential: %s" % (NAME, self.path, key), file=sys.stderr, flush=True)
        text = "Hello from %s." % NAME
        if "/messages" in self.path:
            answer = {"type": "message", "model": asked.get("model"), "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 3, "output_tokens": 4}}
        elif ":generateContent" in self.path:
            answer = {"candidates": [{"content": {"parts": [{"text": text}]}}], "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4}}
        else:
            answer = {"model": asked.get("model"), "choices": [{"message": {"role": "assistant", "content": text}}], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


try:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Mock)
except OSError as err:
    sys.exit("mock.py: port %d: %s" % (PORT, err.strerror))
for ready in sys.argv[3:]:
    open(ready, "w").close()
server.serve_forever()
