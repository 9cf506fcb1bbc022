#!/usr/bin/env python3
"""Stands in for the models of real agents: stream.py PORT COMMAND LOG. Answers on loopback as Anthropic's messages, OpenAI's responses and Gemini's generateContent do, in events where they are asked for.

It has no script, since agents ask more than once and as they like: as long as a request offers a tool that runs commands and has no result of one, the answer is a call of it with COMMAND; else it is "Done.".
LOG has one line per request: {"method", "path", "headers", "body"}.
"""
import http.server
import json
import sys

PORT, COMMAND, LOG = int(sys.argv[1]), sys.argv[2], sys.argv[3]


def messages(body):
    tools = [tool["name"] for tool in body.get("tools") or []]
    done = any(isinstance(m["content"], list) and any(b.get("type") == "tool_result" for b in m["content"]) for m in body["messages"])
    if "Bash" in tools and not done:
        block = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": COMMAND, "description": "does it"}}
        start, delta, stop = dict(block, input={}), {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}, "tool_use"
    else:
        block = {"type": "text", "text": "Done."}
        start, delta, stop = dict(block, text=""), {"type": "text_delta", "text": block["text"]}, "end_turn"
    whole = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": [block], "stop_reason": stop, "stop_sequence": None, "usage": {"input_tokens": 11, "output_tokens": 7}}
    if not body.get("stream"):
        return whole, None
    return None, [{"type": "message_start", "message": dict(whole, content=[], stop_reason=None)},
                  {"type": "content_block_start", "index": 0, "content_block": start}, {"type": "content_block_delta", "index": 0, "delta": delta}, {"type": "content_block_stop", "index": 0},
                  {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 7}}, {"type": "message_stop"}]


def responses(body):
    forms = {"exec_command": {"cmd": COMMAND}, "shell_command": {"command": COMMAND}, "shell": {"command": ["sh", "-c", COMMAND]}}
    name = next((tool["name"] for tool in body.get("tools") or [] if tool.get("name") in forms), None)
    if name and not any(item.get("type") == "function_call_output" for item in body["input"]):
        item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name, "arguments": json.dumps(forms[name]), "status": "completed"}
    else:
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "Done.", "annotations": []}]}
    whole = {"id": "resp_1", "object": "response", "created_at": 1, "model": body["model"], "status": "completed", "output": [item],
             "usage": {"input_tokens": 11, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 18}}
    if not body.get("stream"):
        return whole, None
    return None, [{"type": "response.created", "response": dict(whole, status="in_progress", output=[])}, {"type": "response.output_item.added", "output_index": 0, "item": item},
                  {"type": "response.output_item.done", "output_index": 0, "item": item}, {"type": "response.completed", "response": whole}]


def generate(body, stream):
    tools = [f["name"] for tool in body.get("tools") or [] for f in tool.get("functionDeclarations") or []]
    done = any("functionResponse" in part for content in body["contents"] for part in content["parts"])
    call = {"functionCall": {"name": "run_shell_command", "args": {"command": COMMAND, "description": "does it"}}}
    part = call if "run_shell_command" in tools and not done else {"text": "Done."}
    whole = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}], "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}}
    return (None, [whole]) if stream else (whole, None)


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, kind, answer):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "null")
        with open(LOG, "a") as log:
            log.write(json.dumps({"method": self.command, "path": self.path, "headers": dict(self.headers), "body": body}) + "\n")
        if self.path.startswith("/v1/messages?") or self.path == "/v1/messages":
            whole, events = messages(body)
        elif self.path == "/v1/responses":
            whole, events = responses(body)
        elif ":generateContent" in self.path or ":streamGenerateContent" in self.path:
            whole, events = generate(body, ":stream" in self.path)
        else:
            self.send(404, "application/json", b'{"error":{"message":"there is nothing here"}}')
            return
        if events is None:
            self.send(200, "application/json", json.dumps(whole).encode())
        else:
            lines = ["%sdata: %s\n\n" % ("event: %s\n" % e["type"] if "type" in e else "", json.dumps(e)) for e in events]
            self.send(200, "text/event-stream", "".join(lines).encode())

    do_GET = do_HEAD = do_POST


server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Model)
open(LOG + ".ready", "w").close()
server.serve_forever()
