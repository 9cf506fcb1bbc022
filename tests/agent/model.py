#!/usr/bin/env python3
"""Stands in for a model: model.py PORT SCRIPT LOG. Answers on loopback as OpenAI's chat completions, Anthropic's messages or Gemini's generateContent do, by the path asked.

SCRIPT is a JSON list of steps, read anew for each request; the file LOG has one line per request so far, so its length says which step is next (the last is repeated). A step is
{"say": TEXT, "run": [COMMAND or {"command", "timeout"}...], "stop": WORD}, or {"status": N, "headers": {}, "body": JSON}, or {"raw": TEXT} for a body of any bytes (latin-1),
or {"close": true} for no answer at all.
"""
import http.server
import json
import os
import sys

PORT, SCRIPT, LOG = int(sys.argv[1]), sys.argv[2], sys.argv[3]


def openai(step, model):
    calls = []
    for i, run in enumerate(step.get("run", [])):
        arguments = run if isinstance(run, str) and run.startswith("{") else json.dumps(run if isinstance(run, dict) else {"command": run})
        calls.append({"id": "call_%d" % i, "type": "function", "function": {"name": step.get("tool", "shell"), "arguments": arguments}})
    message = {"role": "assistant", "content": step.get("say")}
    if calls:
        message["tool_calls"] = calls
    return {"id": "x", "object": "chat.completion", "model": model, "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
            "choices": [{"index": 0, "message": message, "finish_reason": step.get("stop", "tool_calls" if calls else "stop")}]}


def anthropic(step, model):
    content = [{"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"}]
    if step.get("say"):
        content.append({"type": "text", "text": step["say"]})
    for i, run in enumerate(step.get("run", [])):
        content.append({"type": "tool_use", "id": "toolu_%d" % i, "name": step.get("tool", "shell"), "input": run if isinstance(run, dict) else {"command": run}})
    return {"id": "x", "type": "message", "role": "assistant", "model": model, "content": content, "stop_reason": step.get("stop", "tool_use" if step.get("run") else "end_turn"),
            "usage": {"input_tokens": 5, "cache_read_input_tokens": 6, "output_tokens": 7}}


def gemini(step, model):
    parts = [{"text": "hm", "thought": True}]
    if step.get("say"):
        parts.append({"text": step["say"]})
    for run in step.get("run", []):
        parts.append({"functionCall": {"name": step.get("tool", "shell"), "args": run if isinstance(run, dict) else {"command": run}}, "thoughtSignature": "c2lnbmVk"})
    return {"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": step.get("stop", "STOP")}], "modelVersion": model,
            "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 5, "thoughtsTokenCount": 2, "totalTokenCount": 18}}


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with open(LOG, "a+") as log:
            log.seek(0)
            count = len(log.readlines())
            log.write(json.dumps({"path": self.path, "headers": dict(self.headers), "body": json.loads(body)}) + "\n")
        with open(SCRIPT) as f:
            steps = json.load(f)
        step = steps[min(count, len(steps) - 1)]
        if step.get("close"):
            self.close_connection = True
            return
        if "raw" in step:
            answer = step["raw"].encode("latin-1")
        elif "status" in step:
            answer = json.dumps(step.get("body", {})).encode()
        else:
            form = anthropic if "/messages" in self.path else gemini if ":generateContent" in self.path else openai
            answer = json.dumps(form(step, json.loads(body).get("model", ""))).encode()
        self.send_response(step.get("status", 200))
        for name, value in step.get("headers", {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Model)
open(LOG + ".ready", "w").close()
server.serve_forever()
