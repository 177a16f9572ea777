"""Runs an expert in Python the way the CPU worker runs a kernel: same control socket, same shared
memory, same go .. done. An expert defines `setup(case)` and returns `run(inputs, outputs)`; the arrays
are numpy views of the shared memory (bfloat16 arrives as uint16 bits). The protocol is told in
worker_main.cpp; here `load` brings a script, and `prepare` a case.
"""

import gc
import inspect
import json
import mmap
import os
import socket
import sys
import time
import traceback
import types

CONTROL, MEMORY = 3, 4
LOOKS = 2000  # at the socket, without sleeping, before the next message is waited for


class Case:
    """One workload: .axes, .types, .params (dicts), .threads; .inputs and .outputs of the first set."""


class Unsupported(Exception):
    pass


class Adapter:
    def __init__(self):
        self.socket = socket.socket(fileno=CONTROL)
        self.buffer = b""
        self.say("hello")

    def say(self, message):
        text = message if isinstance(message, str) else json.dumps(message, separators=(",", ":"))
        self.socket.sendall(text.encode() + b"\n")

    def line(self, looks=0):
        while b"\n" not in self.buffer:
            looks -= 1
            try:
                chunk = self.socket.recv(1 << 16, socket.MSG_DONTWAIT if looks > 0 else 0)
            except BlockingIOError:
                os.sched_yield()
                continue
            if not chunk:
                return None
            self.buffer += chunk
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line

    def serve(self):
        handlers = {"load": self.load, "prepare": self.prepare, "arm": self.batch}
        while (line := self.line()) is not None:
            message = json.loads(line)
            handlers[message["op"]](message)

    def load(self, message):
        self.threads = message["threads"]
        self.module = types.ModuleType("ksearch_expert")
        self.module.__file__ = message["path"]
        sys.path.insert(0, os.path.dirname(message["path"]))
        self.say({"locked": True})
        try:
            for name in message["requires"]:
                __import__(name)
            exec(compile(message["text"], message["path"], "exec"), self.module.__dict__)
        except ModuleNotFoundError as missing:
            raise Unsupported(f"no module {missing.name} in {sys.executable}") from missing
        if not callable(getattr(self.module, "setup", None)):
            raise Unsupported("the script defines no setup(case)")
        self.say({"loaded": True, "versions": versions()})

    def prepare(self, message):
        import numpy as np

        dtypes = {"bfloat16": np.uint16, "bool": np.bool_, "float8_e4m3fn": np.uint8, "float8_e5m2": np.uint8}
        memory = mmap.mmap(MEMORY, message["bytes"])
        self.sets = []
        for index in range(message["sets"]):
            inputs, outputs = {}, {}
            for t in message["tensors"]:
                dtype = np.dtype(dtypes.get(t["dtype"], t["dtype"]))
                array = np.frombuffer(memory, dtype, int(np.prod(t["shape"], dtype=np.int64)),
                                      index * message["stride"] + t["offset"]).reshape(t["shape"])
                (outputs if t["access"] == "out" else inputs)[t["name"]] = array
            self.sets.append((inputs, outputs))
        case = Case()
        case.axes, case.types, case.params = message["axes"], message["types"], message["params"]
        case.threads = self.threads
        case.inputs, case.outputs = self.sets[0]
        try:
            run = self.module.setup(case)
        except NotImplementedError as error:
            raise Unsupported(str(error) or "this case is not supported") from error
        if not callable(run):
            raise Unsupported("setup(case) returned nothing to call")
        if not inspect.signature(run).parameters:  # a reference: it keeps case.inputs and case.outputs
            if len(self.sets) != 1:
                raise Unsupported("run() without arguments knows only one set")
            self.run = lambda inputs, outputs: run()
        else:
            self.run = run
        self.say({"prepared": True, "versions": versions()})

    def batch(self, message):
        order = [self.sets[i] for i in message["order"]]
        run, clock, calls = self.run, time.perf_counter_ns, []
        done = json.dumps({"done": message["token"]}).encode() + b"\n"
        gc.collect()
        gc.disable()
        self.say({"ready": message["token"]})
        if self.line(LOOKS) != b"go":
            raise RuntimeError("no go")
        last = clock()
        for inputs, outputs in order:
            run(inputs, outputs)
            now = clock()
            calls.append(now - last)
            last = now
        self.socket.sendall(done)
        self.say({"calls": calls})
        gc.enable()


def versions():
    """Of the modules that were imported and say theirs, the standard library's left out."""
    return {
        name: module.__version__
        for name, module in sorted(sys.modules.items())
        if "." not in name and not name.startswith("_") and name not in sys.stdlib_module_names
        and isinstance(getattr(module, "__version__", None), str)
    }


def main():
    adapter = Adapter()
    try:
        adapter.serve()
    except Unsupported as why:
        adapter.say({"failed": "unsupported", "why": str(why)})
    except Exception as error:  # whatever the expert raises is told, and is its failure
        place = traceback.extract_tb(error.__traceback__)[-1]
        adapter.say({"failed": "script", "why": f"{type(error).__name__}: {error} "
                                                f"({os.path.basename(place.filename)}:{place.lineno})"})
        return 1
    return 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # libraries' threads and atexit hooks are not waited for
