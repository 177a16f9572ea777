"""MLX's questions about the GPU, answered as on a Mac while an engine is active.

Code asks `mx.metal.is_available()` before it calls a kernel, or names a stream of the GPU. What runs
on such a stream, kernels apart, runs on the CPU."""

import os

import mlx.core as mx

_answers = None  # of the engine that is active


class _Answers:
    """The functions of mlx.core that are replaced. `device` is what code takes for the default."""

    names = (
        "is_available",
        "device_count",
        "device_info",
        "default_device",
        "set_default_device",
        "default_stream",
        "set_default_stream",
        "new_stream",
        "new_thread_local_stream",
        "stream",
        "synchronize",
    )

    def __init__(self):
        self.real = {name: getattr(mx, name) for name in self.names if hasattr(mx, name)}
        self.device = mx.Device(mx.gpu, 0)
        self.streams = []  # made for the GPU; they are the CPU's

    def is_available(self, device):
        return True if _is_gpu(device) else self.real["is_available"](device)

    def device_count(self, device_type):
        return 1 if _is_gpu(device_type) else self.real["device_count"](device_type)

    def device_info(self, device=None):
        if device is not None and not _is_gpu(device) or device is None and not _is_gpu(self.device):
            return self.real["device_info"](mx.cpu)
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return {
            "device_name": "ksearch engine (no GPU)",
            "architecture": "ksearch",
            "memory_size": memory,
            "max_buffer_length": memory // 2,
            "max_recommended_working_set_size": memory // 2,
            "resource_limit": 499000,
        }

    def default_device(self):
        return self.device

    def set_default_device(self, device):
        self.device = device if isinstance(device, mx.Device) else mx.Device(device, 0)

    def default_stream(self, device):
        return self._for_gpu(device, self.real["default_stream"])

    def set_default_stream(self, stream):
        self.real["set_default_stream"](stream)
        self.device = mx.Device(mx.gpu if self.made(stream) else mx.cpu, 0)

    def new_stream(self, device):
        return self._for_gpu(device, self.real["new_stream"])

    def new_thread_local_stream(self, device):
        return self._for_gpu(device, self.real["new_thread_local_stream"])

    def stream(self, where):
        return _StreamContext(self, where)

    def synchronize(self, stream=None):
        if stream is None or _is_gpu(stream):
            return self.real["synchronize"]()
        return self.real["synchronize"](stream)

    def made(self, stream):
        # Streams of different types cannot be compared.
        return any(type(one) is type(stream) and one == stream for one in self.streams)

    def _for_gpu(self, device, make):
        if not _is_gpu(device):
            return make(device)
        stream = make(mx.cpu)
        self.streams.append(stream)
        return stream


class _StreamContext:
    def __init__(self, answers, where):
        self._answers = answers
        self._gpu = _is_gpu(where) or answers.made(where)
        self._context = answers.real["stream"](mx.cpu if _is_gpu(where) else where)

    def __enter__(self):
        self._before = self._answers.device
        self._answers.device = mx.Device(mx.gpu if self._gpu else mx.cpu, 0)
        return self._context.__enter__()

    def __exit__(self, *error):
        self._answers.device = self._before
        return self._context.__exit__(*error)


def _is_gpu(where):
    if isinstance(where, mx.Device):
        return where.type == mx.gpu
    return isinstance(where, mx.DeviceType) and where == mx.gpu


def gpu_stream(where):
    """A kernel's `stream`, as MLX may be told; its error where it is one of the CPU."""
    if where is None or (_answers is not None and _answers.made(where)):
        return None
    if _is_gpu(where):
        return where
    device = getattr(where, "device", where)
    if isinstance(device, (mx.Device, mx.DeviceType)) and not _is_gpu(device):
        raise ValueError("[metal_kernel] Only supports the GPU.")
    return where


def answer_as_gpu():
    """Returns what undoes it."""
    global _answers
    if _answers is not None or mx.metal.is_available():
        return lambda: None
    _answers = answers = _Answers()
    metal_is_available = mx.metal.is_available
    for name in answers.real:
        setattr(mx, name, getattr(answers, name))
    mx.metal.is_available = lambda: True

    def undo():
        global _answers
        for name, real in answers.real.items():
            setattr(mx, name, real)
        mx.metal.is_available = metal_is_available
        _answers = None

    return undo
