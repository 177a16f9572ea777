#!/usr/bin/env python3
"""A language model for tests, over a real socket: OpenAI Chat Completions, OpenAI Responses and
Anthropic Messages, streams too. What it answers is a function of the question alone, so that runs can
be compared; which calls fail, and how, is drawn from a seed.

  scripted_model.py --port-file FILE [--fail 0.2] [--seed 1] [--outage FIRST:COUNT] [--log FILE]
                    [--softmax CATALOG_FOLDER]

--outage: so many calls in a row fail, from the FIRST on. --log gets a line for each call:
{"call": N, "what": "answer" | a failure, "tokens": [in, cached, out]}.
"""
import argparse
import hashlib
import http.server
import json
import os
import random
import re
import select
import threading

KEY = "key-for-tests"
# Those that pass: the same call again may succeed.
FAILURES = ["429 with Retry-After", "429 bare", "500", "slow first byte", "cut stream", "malformed JSON",
            "wrong content type", "empty choices", "200 with an error"]
AGAIN = "# Your answer could not be used"
LONGEST_WAIT_S = 60  # for a caller that never loses patience


def draw(*parts):
    """A random source that is a function of its name."""
    return random.Random(hashlib.sha256("/".join(map(str, parts)).encode()).hexdigest())


def kind_of(prompt):
    for kind, words in [("plan-first", "Then propose a tree of at most"),
                        ("plan-propose", "Few actions are open"),
                        ("plan-revise", "A cycle of the search has ended")]:
        if words in prompt:
            return kind
    return "code"


def fenced(value):
    return "```json\n" + json.dumps(value) + "\n```\n"


def node(rng):
    name = "n%06x" % rng.randrange(1 << 24)
    return {"node_id": name, "action": {"title": "try " + name, "description": "d", "difficulty_1_to_5": 2,
            "score_0_to_1": round(rng.random(), 3), "expected_vs_baseline_factor": 1.1},
            "overall_rating_0_to_10": 5, "confidence_0_to_1": 0.5}


def copy_answer(prompt, rng):
    """For the task of model_search_test: programs whose speed is a number in their source."""
    kind = kind_of(prompt)
    if kind == "plan-first":
        nodes = [{"node_id": "root"}] + [dict(node(rng), parent_id="root") for _ in range(4)]
        return fenced({"kernel_summary": "a copy", "decision_tree": {"root_id": "root", "nodes": nodes}})
    if kind.startswith("plan"):
        if kind == "plan-revise" and rng.random() < 0.3:
            return fenced({"ops": [], "why": "nothing to learn"})
        best = re.search(r"(?:so far, of node|belongs to node) (\w+)", prompt).group(1)
        return fenced({"ops": [{"op": "insert_node", "parent_id": best, "node": node(rng)}]})
    if rng.random() < 0.25:
        return fenced({"exhausted": "nothing more"})
    if rng.random() < 0.05 and AGAIN not in prompt:
        return "I would unroll the loop."  # no program: asked again
    return ("```cpp copy.cpp\nint variant = %d;\n```\n\n" % rng.randrange(1 << 30) +
            fenced({"launches": [{"kernel": "copy", "groups": ["1"], "args": ["x", "y", {"i64": "n"}]}]}))


def softmax_answer(prompt, catalog):
    """Vector rows from the catalog, and nothing more after that."""
    kind = kind_of(prompt)
    if kind == "plan-first":
        action = {"title": "vectors", "score_0_to_1": 0.8}
        return fenced({"decision_tree": {"root_id": "root", "nodes": [
            {"node_id": "root"}, {"node_id": "vectors", "parent_id": "root", "action": action}]}})
    if kind.startswith("plan"):
        return fenced({"ops": [], "why": "nothing more"})
    if "The best program for this action so far" in prompt:
        return fenced({"exhausted": "bound by memory"})
    def read(name):
        return open(os.path.join(catalog, "vector_rows", name)).read()
    return "```cpp softmax.cpp\n" + read("softmax.cpp") + "```\n\n```json\n" + read("program.json") + "```\n"


class Model:
    def __init__(self, options):
        self.options = options
        self.lock = threading.Lock()
        self.calls = 0
        self.log = open(options.log, "a") if options.log else None

    def next_call(self):
        """The number of this call, and how it fails, if it does."""
        with self.lock:
            self.calls += 1
            first, count = self.options.outage
            if first <= self.calls < first + count:
                return self.calls, "500"
            rng = draw("fail", self.options.seed, self.calls)
            if rng.random() >= self.options.fail:
                return self.calls, None
            return self.calls, FAILURES[rng.randrange(len(FAILURES))]

    def note(self, call, what, tokens=(0, 0, 0)):
        if not self.log:
            return
        with self.lock:
            self.log.write(json.dumps({"call": call, "what": what, "tokens": tokens}) + "\n")
            self.log.flush()

    def say(self, turns):
        """(text, stop): stop is "stop", "length" or "declined"; or ("...", "context")."""
        question = turns[0]
        rng = draw("answer", question)
        if not self.options.softmax and rng.random() < 0.02:
            return "too long", "context"
        if not self.options.softmax and rng.random() < 0.02:
            return "I cannot help with that.", "declined"
        text = (softmax_answer(question, self.options.softmax) if self.options.softmax
                else copy_answer(question, rng))
        if rng.random() >= 0.1 or self.options.softmax:
            return text, "stop"
        half = len(text) // 2  # the limit of tokens
        return (text[:half], "length") if len(turns) == 1 else (text[half:], "stop")


class Format:
    """One wire format: (whole reply, events of a stream) of a text."""

    @staticmethod
    def chat(text, stop, tokens):
        usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[2],
                 "prompt_tokens_details": {"cached_tokens": tokens[1]}}
        finish = {"stop": "stop", "length": "length", "declined": "stop"}[stop]
        field = "refusal" if stop == "declined" else "content"
        whole = {"choices": [{"message": {"role": "assistant", field: text}, "finish_reason": finish}], "usage": usage}
        events = [{"choices": [{"delta": {field: piece}}]} for piece in pieces(text)]
        events += [{"choices": [{"delta": {}, "finish_reason": finish}]}, {"choices": [], "usage": usage}, "[DONE]"]
        return whole, events

    @staticmethod
    def responses(text, stop, tokens):
        part = ({"type": "refusal", "refusal": text} if stop == "declined" else {"type": "output_text", "text": text})
        whole = {"status": "incomplete" if stop == "length" else "completed",
                 "incomplete_details": {"reason": "max_output_tokens"} if stop == "length" else None, "error": None,
                 "output": [{"type": "reasoning", "summary": []}, {"type": "message", "content": [part]}],
                 "usage": {"input_tokens": tokens[0], "output_tokens": tokens[2],
                           "input_tokens_details": {"cached_tokens": tokens[1]}}}
        delta = "response.refusal.delta" if stop == "declined" else "response.output_text.delta"
        events = [{"type": "response.created", "response": {"error": None}}]
        events += [{"type": delta, "delta": piece} for piece in pieces(text)]
        events.append({"type": "response.incomplete" if stop == "length" else "response.completed", "response": whole})
        return whole, events

    @staticmethod
    def messages(text, stop, tokens):
        usage = {"input_tokens": tokens[0] - tokens[1], "cache_read_input_tokens": tokens[1],
                 "cache_creation_input_tokens": 0, "output_tokens": tokens[2]}
        reason = {"stop": "end_turn", "length": "max_tokens", "declined": "refusal"}[stop]
        whole = {"type": "message", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}],
                 "stop_reason": reason, "usage": usage}
        events = [{"type": "message_start", "message": {"usage": dict(usage, output_tokens=1)}}, {"type": "ping"},
                  {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}]
        events += [{"type": "content_block_delta", "delta": {"type": "text_delta", "text": piece}}
                   for piece in pieces(text)]
        events += [{"type": "message_delta", "delta": {"stop_reason": reason},
                    "usage": {"output_tokens": tokens[2]}}, {"type": "message_stop"}]
        return whole, events


def pieces(text):
    return [text[i:i + 60] for i in range(0, len(text), 60)]


def turns_of(body):
    turns = []
    for turn in body.get("messages") or body.get("input"):
        content = turn["content"]
        turns.append(content if isinstance(content, str) else "".join(block["text"] for block in content))
    return turns


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model = None

    def log_message(self, *_):
        pass

    def reply(self, status, body, kind="application/json", headers=()):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def stream(self, events, cut=False):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in events[:len(events) // 2] if cut else events:
            data = event if isinstance(event, str) else json.dumps(event)
            self.wfile.write(("data: %s\n\n" % data).encode())
        self.close_connection = True

    def fail(self, failure, streaming, whole, events):
        if failure == "429 with Retry-After":
            self.reply(429, {"error": {"type": "rate_limit_error", "message": "slow down"}}, headers=[("Retry-After", "0.01")])
        elif failure == "429 bare":
            self.reply(429, b"Too Many Requests", "text/plain")
        elif failure == "500":
            self.reply(500, {"error": {"message": "internal error", "type": "server_error"}})
        elif failure == "slow first byte":
            select.select([self.connection], [], [], LONGEST_WAIT_S)  # until the caller hangs up
            self.close_connection = True
        elif failure == "cut stream":
            if streaming:
                self.stream(events, cut=True)
            else:
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "100000")
                self.end_headers()
                self.wfile.write(json.dumps(whole).encode()[:40])
                self.close_connection = True
        elif failure == "malformed JSON":
            self.reply(200, json.dumps(whole).encode()[:-5])
        elif failure == "wrong content type":
            self.reply(200, b"<html><h1>Welcome to the proxy</h1></html>", "text/html")
        elif failure == "empty choices":
            self.reply(200, {"choices": [], "output": [], "content": []})
        else:
            self.reply(200, {"error": {"type": "overloaded_error", "message": "Overloaded"}})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers.get("x-api-key") or self.headers.get("Authorization", "")[len("Bearer "):]
        form = {"/v1/chat/completions": Format.chat, "/v1/responses": Format.responses,
                "/v1/messages": Format.messages}.get(self.path)
        if form is None:
            return self.reply(404, {"error": {"message": "no such address"}})
        if key != KEY:
            return self.reply(401, {"error": {"message": "Incorrect API key provided: " + key}})
        model = self.model
        call, failure = model.next_call()
        turns = turns_of(body)
        text, stop = model.say(turns)
        if stop == "context" and failure == "cut stream":
            failure = "500"  # a question that is refused has no stream
        if stop == "context" and not failure:
            model.note(call, "context overflow")
            return self.reply(400, {"error": {"code": "context_length_exceeded",
                                              "message": "This model's maximum context length is 10 tokens"}})
        size = sum(map(len, turns)) // 4
        tokens = (size, size // 2, max(1, len(text) // 4))
        whole, events = form(text, "stop" if stop == "context" else stop, tokens)
        streaming = body.get("stream", False)
        try:
            if failure:
                model.note(call, failure)
                return self.fail(failure, streaming, whole, events)
            model.note(call, "answer", tokens)
            if streaming:
                self.stream(events)
            else:
                self.reply(200, whole)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the caller is gone


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port-file", required=True)
    parser.add_argument("--fail", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--outage", type=lambda text: tuple(map(int, text.split(":"))), default=(0, 0))
    parser.add_argument("--log")
    parser.add_argument("--softmax")
    options = parser.parse_args()
    Handler.model = Model(options)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with open(options.port_file + ".part", "w") as file:
        file.write(str(server.server_address[1]))
    os.rename(options.port_file + ".part", options.port_file)
    server.serve_forever()


if __name__ == "__main__":
    main()
