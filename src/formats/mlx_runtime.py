@functools.cache
def _kernel(kernel, inputs, outputs, macros=(), atomic=False):
    """Built once: MLX keeps a Metal library by its name, which says what the text is."""
    header = "".join(f"#define {name} {value}\n" for name, value in macros) + _HEADERS[kernel]
    text = "\0".join((header, _BODIES[kernel], *inputs, *outputs))
    digest = hashlib.sha256(text.encode()).hexdigest()
    return mx.fast.metal_kernel(
        name=f"{kernel}_{digest[:12]}",
        input_names=list(inputs),
        output_names=list(outputs),
        source=_BODIES[kernel],
        header=header,
        atomic_outputs=atomic,
    )


def _macro(value):
    if isinstance(value, mx.Dtype):
        names = {mx.float32: "float", mx.float16: "half", mx.bfloat16: "bfloat16_t"}
        return names.get(value) or {mx.bool_: "bool", mx.int32: "int", mx.uint32: "uint"}[value]
    return int(value)


def _sizes(name, array, ndim):
    if array.ndim != ndim:
        raise ValueError(f"{name} has {array.ndim} dimensions, {ndim} are meant")
    return array.shape


def _one_of(name, array, dtypes):
    if array.dtype not in dtypes:
        raise TypeError(f"{name} is {array.dtype}; {', '.join(map(str, dtypes))} will do")
    return array.dtype


def _expect(name, array, shape, dtype):
    if tuple(array.shape) != shape:
        raise ValueError(f"{name} has shape {tuple(array.shape)}, {shape} is meant")
    if array.dtype != dtype:
        raise TypeError(f"{name} is {array.dtype}, {dtype} is meant")


def _given(name, array):
    if array is None:
        raise ValueError(f"{name} is not given, and the plan reads it for these sizes")
    return array


def _written(name, array):
    if array is None:
        raise ValueError(f"no launch of the plan writes {name} for these sizes")
    return array


def _unwritten(name, array):
    if array is not None:
        raise ValueError(f"two launches of the plan write {name} for these sizes")
