"""Finds and runs the ksearch program."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from .errors import CompileError, EngineError, KernelError

_CLEAN, _FINDINGS, _USAGE = 0, 1, 2  # exit codes of `ksearch check`


def find(given=None):
    """The program given, that of $KSEARCH, of PATH, of the checkout this file is in."""
    named = given or os.environ.get("KSEARCH")
    if named:
        found = shutil.which(named)
        if not found:
            raise EngineError(f"{named} ({'given' if given else '$KSEARCH'}) is no program")
        return found
    found = shutil.which("ksearch")
    if found:
        return found
    checkout = Path(__file__).resolve().parents[2]
    for preset in ("release", "dev"):
        program = checkout / "build" / preset / "bin" / "ksearch"
        if os.access(program, os.X_OK):
            return str(program)
    raise EngineError(
        "there is no ksearch: build it (cmake --preset release && cmake --build --preset release "
        "--target ksearch), then put it on PATH or name it by $KSEARCH"
    )


def check(program, case, dump, options, seconds):
    """The object of `ksearch check --json`; outputs lie in `dump` as NAME.bin.

    `seconds` is for one run of the kernel; compiling it takes what it takes."""
    command = [program, "check", str(case), "--json", "--dump", str(dump)]
    command += ["--time", str(seconds), *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise EngineError(f"{program}: {error.strerror}") from error
    if done.returncode in (_CLEAN, _FINDINGS):
        return json.loads(done.stdout)
    text = done.stderr.removeprefix("ksearch: ").rstrip()
    if done.returncode == _USAGE:
        raise (CompileError if "it does not compile" in text else KernelError)(text)
    raise EngineError(f"{text or 'ksearch check'} (exit code {done.returncode})")
