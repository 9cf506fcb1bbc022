#!/usr/bin/env python3
"""Stands in for an agent that speaks ACP: acp_agent.py SCRIPT. A script is a Python file whose run(agent) is called with the first prompt; agent has call(), tell(), raw() and the prompt."""
import json
import sys


class Agent:
    def __init__(self):
        self.next = 100
        self.log = []
        self.early = []  # answers to other requests than the one that is waited for

    def raw(self, text):
        sys.stdout.buffer.write(text if isinstance(text, bytes) else text.encode())
        sys.stdout.buffer.flush()

    def send(self, message):
        self.raw(json.dumps(dict(message, jsonrpc="2.0")) + "\n")

    def receive(self):
        line = sys.stdin.readline()
        if not line:
            sys.exit(0)
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def ask(self, method, **params):
        self.next += 1
        self.send({"id": self.next, "method": method, "params": dict(params, sessionId="s-1")})
        return self.next

    def answer(self, number):
        for message in self.early:
            if message["id"] == number:
                self.early.remove(message)
                return message
        while True:
            message = self.receive()
            if message.get("id") == number and "method" not in message:
                return message
            self.early.append(message)

    def call(self, method, **params):
        return self.answer(self.ask(method, **params))

    def tell(self, what, **update):
        self.send({"method": "session/update", "params": {"sessionId": "s-1", "update": dict(update, sessionUpdate=what)}})


agent = Agent()
script = {}
with open(sys.argv[1]) as f:
    exec(f.read(), script)
script.get("begin", lambda agent: None)(agent)
keys = 0
while True:
    message = agent.receive()
    method, number = message["method"], message.get("id")
    if method == "initialize":
        agent.offer = message["params"]
        agent.send({"id": number, "result": script.get("initialize", {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": [{"id": "login", "name": "x"}, {"id": "api-key", "name": "y"}]})})
    elif method == "authenticate":
        keys += message["params"]["methodId"] == "api-key"
        agent.send({"id": number, "result": {}})
    elif method == "session/new":
        agent.session = message["params"]
        if script.get("needs_key") and not keys:
            agent.send({"id": number, "error": {"code": -32000, "message": "Authentication required"}})
        else:
            agent.send({"id": number, "result": script.get("session", {"sessionId": "s-1"})})
    elif method == "session/prompt":
        agent.prompt = message["params"]
        stop = script["run"](agent)
        agent.send({"id": number, "result": {"stopReason": stop or "end_turn"}})
