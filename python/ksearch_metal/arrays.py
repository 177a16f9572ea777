"""MLX arrays to bytes and back."""

import mlx.core as mx

from .errors import Unsupported

_NAMES = {
    mx.float32: "float32",
    mx.float16: "float16",
    mx.bfloat16: "bfloat16",
    mx.int64: "int64",
    mx.int32: "int32",
    mx.int16: "int16",
    mx.int8: "int8",
    mx.uint64: "uint64",
    mx.uint32: "uint32",
    mx.uint16: "uint16",
    mx.uint8: "uint8",
    mx.bool_: "bool",
}
_WORDS = {1: mx.uint8, 2: mx.uint16, 4: mx.uint32, 8: mx.uint64}


def dtype_name(dtype, where):
    if dtype not in _NAMES:
        raise Unsupported(f"{where} is {dtype}: the engine runs {', '.join(_NAMES.values())}")
    return _NAMES[dtype]


def strides(array):
    """In elements, as MLX has them; evaluates the array."""
    return [stride // array.itemsize for stride in memoryview(array).strides]


def is_row_contiguous(array):
    return array.size == 0 or memoryview(array).c_contiguous


def row_contiguous_bytes(array):
    view = memoryview(array)
    return view if view.c_contiguous else memoryview(mx.contiguous(array))


def strided_bytes(array, where):
    """The memory from the first element to the last, each in its place; zeros in between."""
    steps = strides(array)
    if min(steps) < 0:
        raise Unsupported(f"{where} has negative strides {steps}: mx.contiguous(...) it")
    places = mx.array(0, dtype=mx.int64)
    for size, step in zip(array.shape, steps):
        places = places[..., None] + mx.arange(size, dtype=mx.int64) * step
    words = mx.contiguous(array).view(_WORDS[array.itemsize])
    memory = mx.zeros((places.max().item() + 1,), dtype=words.dtype)
    memory[places.flatten()] = words.flatten()
    return memoryview(memory)


def filled_bytes(shape, value, dtype):
    return memoryview(mx.full(shape, value, dtype=dtype))


def from_bytes(data, shape, dtype):
    # MLX takes memory of bytes, and has no name for bfloat16's in Python.
    return mx.array(memoryview(data)).view(dtype).reshape(shape)
