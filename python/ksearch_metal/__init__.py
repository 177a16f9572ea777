"""Runs mx.fast.metal_kernel on the CPU, and raises what is wrong with the kernel.

    import ksearch_metal

    with ksearch_metal.engine():
        out = my_kernel(x)      # anything that calls a kernel of mx.fast.metal_kernel

Under pytest: `pytest --metal-engine`. The page: docs/metal-in-python.md.

Importing this replaces mx.fast.metal_kernel by one that remembers its arguments, so that kernels
which a module builds when it is imported run in the engine too. Outside of an engine they are MLX's.
"""

from .engine import Engine, current, engine
from .errors import (
    BarrierDivergence,
    CompileError,
    DataRace,
    EngineError,
    Finding,
    FindingError,
    GroupSizeLimit,
    KernelCrash,
    KernelError,
    KernelWarning,
    LimitExceeded,
    Livelock,
    Misaligned,
    OrderWarning,
    OutOfBounds,
    UncoveredOutput,
    UndefinedValue,
    Unsupported,
)
from .kernel import install
from .launch import Call

__version__ = "0.1.0"
__all__ = [
    "BarrierDivergence",
    "Call",
    "CompileError",
    "DataRace",
    "Engine",
    "EngineError",
    "Finding",
    "FindingError",
    "GroupSizeLimit",
    "KernelCrash",
    "KernelError",
    "KernelWarning",
    "LimitExceeded",
    "Livelock",
    "Misaligned",
    "OrderWarning",
    "OutOfBounds",
    "UncoveredOutput",
    "UndefinedValue",
    "Unsupported",
    "current",
    "engine",
]

install()
