"""Where kernels run: options, and what they did."""

import contextlib
import os
import time
from pathlib import Path

import mlx.core as mx

from . import binary, devices

_stack = []


def current():
    """The engine that is active, the innermost; None outside of any."""
    return _stack[-1] if _stack else None


class Engine:
    """Counts and options of the kernels that run in it. `last` is the last call, a Call."""

    def __init__(self, schedules, watch, ignore, keep, seconds, memory_gib, jobs, program):
        self.program = binary.find(program)
        self.schedules = tuple(schedules)
        self.watch = watch
        self.ignore = frozenset(ignore)
        self.keep = keep
        self.seconds = seconds
        self.memory_gib = memory_gib
        self.jobs = jobs
        self.last = None
        self.calls = 0
        self.wall_seconds = 0.0  # of all calls

    def check_options(self, traced=False):
        options = ["--memory", str(self.memory_gib)]
        if self.jobs:
            options += ["--jobs", str(self.jobs)]
        if traced:
            return options
        options += ["--schedule", ",".join(self.schedules)]
        return options + (["--trace-groups", "0"] if self.watch else ["--no-trace"])

    @contextlib.contextmanager
    def counted(self, call):
        self.last = call
        self.calls += 1
        start = time.perf_counter()
        try:
            yield
        finally:
            self.wall_seconds += time.perf_counter() - start

    def place_to_keep(self, name):
        folder = Path(self.keep)
        number = 0
        while (folder / f"{name}-{number}").exists():
            number += 1
        return folder / f"{name}-{number}"


@contextlib.contextmanager
def engine(
    *,
    schedules=("default", "reversed"),
    watch=True,
    ignore=(),
    keep=None,
    seconds=120,
    memory_gib=8,
    jobs=None,
    gpu=True,
    program=None,
):
    """Kernels of mx.fast.metal_kernel run on the CPU in here, at the call; what is wrong with one is
    raised, a FindingError with the lines.

    schedules   orders of SIMD-groups each call is run under: default, reversed, random:SEED
    watch       False: outputs alone, several times as fast; barriers and limits are still seen
    ignore      kinds of findings that are not raised: {"uncovered_output"}
    keep        folder for the cases of calls that fail: ksearch check FOLDER/NAME-0/case.json
    seconds     that one run of a kernel may take
    memory_gib  for the buffers and what watches them
    jobs        CPU threads of a call [all]
    gpu         mx.metal.is_available() and the like say yes, as on a Mac
    program     the ksearch program [$KSEARCH, then PATH, then the checkout's build]
    """
    made = Engine(schedules, watch, ignore, keep, seconds, memory_gib, jobs, program)
    undo = devices.answer_as_gpu() if gpu else lambda: None
    # A compiled function is traced without values, and a kernel here needs them.
    if not _stack:
        mx.disable_compile()
    _stack.append(made)
    try:
        yield made
    finally:
        _stack.pop()
        undo()
        if not _stack and "MLX_DISABLE_COMPILE" not in os.environ:
            mx.enable_compile()
