"""What a kernel can do wrong, as exceptions.

KernelError                 the kernel, or the call of it
  CompileError              its source does not compile
  Unsupported               Metal or MLX may take it, the engine does not
  FindingError              it ran, and something is wrong: `findings`, `kind`, `call`
    OutOfBounds, DataRace, BarrierDivergence, UndefinedValue, UncoveredOutput, Misaligned,
    Livelock, KernelCrash, LimitExceeded (GroupSizeLimit is a ValueError too, as in MLX)
EngineError                 the environment: no ksearch, no clang, no sandbox
"""

from dataclasses import dataclass


class EngineError(RuntimeError):
    """ksearch is not there, or cannot run here."""


class KernelError(RuntimeError):
    """MLX raises RuntimeError too where a kernel cannot be built."""


class CompileError(KernelError):
    """The compiler's words, with lines of the source."""


class Unsupported(KernelError, NotImplementedError):
    """Not run by the engine: nothing is said about the kernel."""


class KernelWarning(UserWarning):
    """Seen in the source: what Apple's compiler refuses, what is rarely meant."""


class OrderWarning(KernelWarning):
    """An output depends on the order in which SIMD-groups run, by more than rounding."""


@dataclass(frozen=True)
class Place:
    """A line of the kernel: in the Python file that holds it, where that was found."""

    file: str
    line: int
    text: str = ""

    def __str__(self):
        return f"{self.file}:{self.line}: {self.text}"


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong. Threads are indices in the group; the earlier access comes first."""

    kind: str
    places: tuple[Place, ...]
    buffer: str
    offset: int | None  # in bytes
    threads: tuple[int, ...]
    group: tuple[int, ...]
    message: str
    fix: str = ""
    count: int = 1

    def __str__(self):
        where = f"{self.buffer} + {self.offset}" if self.offset is not None else self.buffer
        lines = [f"{self.kind}  {where}".rstrip()]
        lines += [f"  {place}" for place in self.places]
        if self.threads:
            threads = " and ".join(map(str, self.threads))
            plural = "s" if len(self.threads) > 1 else ""
            lines.append(f"  thread{plural} {threads} of group {self.group}")
        lines.append(f"  {self.message}")
        if self.fix:
            lines.append(f"  {self.fix}")
        if self.count > 1:
            lines.append(f"  seen {self.count} times")
        return "\n".join(lines)


class FindingError(KernelError):
    """Everything that was found in one call; the class is that of the first finding."""

    def __init__(self, call, findings):
        self.call = call
        self.findings = tuple(findings)
        self.kind = self.findings[0].kind
        super().__init__(self._text())

    def _text(self):
        text = f"kernel {self.call.name!r}: " + "\n".join(map(str, self.findings))
        if self.call.kept:
            text += f"\nagain: ksearch check {self.call.kept}/case.json"
        return text


class OutOfBounds(FindingError):
    """An access outside of a buffer or an array."""


class DataRace(FindingError):
    """Two accesses of one byte, one of them a write, with nothing to order them."""


class BarrierDivergence(FindingError):
    """A barrier, or an operation of a SIMD-group, that some threads miss."""


class UndefinedValue(FindingError):
    """A value that nobody wrote decides something or reaches an output."""


class UncoveredOutput(FindingError):
    """Elements of an output that no thread wrote; MLX leaves there what was in memory."""


class Misaligned(FindingError):
    """A vector at an address that is no multiple of its alignment."""


class Livelock(FindingError):
    """A thread that gets nowhere."""


class KernelCrash(FindingError):
    """The stack overflowed, a system call was made, the process died."""


class LimitExceeded(FindingError):
    """More threadgroup memory or threads than a GPU has."""


class GroupSizeLimit(LimitExceeded, ValueError):
    """MLX raises ValueError for it."""


_CLASSES = {
    "out_of_bounds": OutOfBounds,
    "data_race": DataRace,
    "barrier_divergence": BarrierDivergence,
    "uninitialised_group_memory": UndefinedValue,
    "uninitialised_output": UndefinedValue,
    "uninitialised_variable": UndefinedValue,
    "undefined_lane": UndefinedValue,
    "uncovered_output": UncoveredOutput,
    "misaligned_access": Misaligned,
    "group_memory_limit": LimitExceeded,
    "group_size_limit": GroupSizeLimit,
    "livelock": Livelock,
    "stack_overflow": KernelCrash,
    "system_call": KernelCrash,
    "crash": KernelCrash,
}


def finding_error(call, findings):
    """The exception for what was found. What an access out of bounds or a race leaves unwritten is
    a consequence: it does not name the error."""
    first = next((f for f in findings if f.kind != "uncovered_output"), findings[0])
    ordered = [first] + [f for f in findings if f is not first]
    return _CLASSES.get(first.kind, FindingError)(call, ordered)
