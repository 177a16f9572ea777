"""What mx.fast.metal_kernel gives: MLX's own kernel, and what it was built from.

MLX checks every argument, here too: its kernel is called first, and says "No Metal back-end" only
when nothing else is wrong. So errors of wrong use are MLX's, of the version that is installed."""

from dataclasses import dataclass

import mlx.core as mx

from . import devices, launch, sources

_NO_METAL = "No Metal back-end"
_METAL_IS_HERE = mx.metal.is_available()
_mlx_metal_kernel = mx.fast.metal_kernel


@dataclass(frozen=True)
class Spec:
    name: str
    input_names: list
    output_names: list
    source: str
    header: str = ""
    ensure_row_contiguous: bool = True
    atomic_outputs: bool = False
    compile_options: dict | None = None
    files: tuple = ()  # where its text may stand


class MetalKernel:
    """Called as MLX's; runs in the engine where one is active."""

    def __init__(self, built, spec):
        self._built = built
        self._spec = spec
        self.__doc__ = built.__doc__

    def __call__(self, *args, **kwargs):
        __tracebackhide__ = True  # pytest shows the line that called the kernel
        from .engine import current

        engine = current()
        if engine is None:
            return self._built(*args, **kwargs)
        kwargs["stream"] = devices.gpu_stream(kwargs.get("stream"))
        recorded = self._let_mlx_check(args, kwargs)
        if recorded is not None:
            return recorded
        kwargs.pop("verbose", None)
        kwargs.pop("stream")
        inputs = kwargs.pop("inputs")
        return launch.run(engine, self._spec, inputs, launch.Launch(**kwargs))

    def _let_mlx_check(self, args, kwargs):
        """Outputs where MLX takes the call without Metal: while it exports a function."""
        __tracebackhide__ = True
        try:
            outputs = self._built(*args, **kwargs)
            return None if _METAL_IS_HERE else outputs
        except RuntimeError as error:
            if _NO_METAL not in str(error):
                raise
            if kwargs.get("verbose"):
                self._print_source(kwargs)

    def _print_source(self, kwargs):
        """Exported, the call makes its source, and prints it."""
        arrays = [x if isinstance(x, mx.array) else mx.array(x) for x in kwargs["inputs"]]
        placeholders = [mx.zeros(x.shape, dtype=x.dtype) for x in arrays]

        def traced(*inputs):
            return self._built(**kwargs | {"inputs": list(inputs)})

        mx.export_function(lambda _: None, traced, *placeholders)


def metal_kernel(*args, **kwargs):
    built = _mlx_metal_kernel(*args, **kwargs)
    spec = Spec(*args, **kwargs, files=sources.files_of_callers())
    return MetalKernel(built, spec)


metal_kernel.__doc__ = _mlx_metal_kernel.__doc__


def install():
    mx.fast.metal_kernel = metal_kernel
