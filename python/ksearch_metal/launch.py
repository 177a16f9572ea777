"""One call of a kernel: written down as a case, run by `ksearch check`, read back."""

import json
import math
import re
import shutil
import tempfile
import warnings
from pathlib import Path

import mlx.core as mx

from . import arrays, binary, sources
from .errors import Finding, KernelError, KernelWarning, OrderWarning, Place, finding_error

_MOST_THREADS = 1024  # of a group, on every Apple GPU
# Share of an output's largest value that another order of its sums may move it by.
_ROUNDING = {mx.float32: 1e-5, mx.float16: 2e-3, mx.bfloat16: 1e-2}
_LINE_OF_KERNEL = re.compile(r"^(kernel\.metal|header):(\d+)", re.MULTILINE)


class Call:
    """What a call was and what came of it."""

    def __init__(self, engine, spec, launch):
        self.spec = spec
        self.launch = launch  # a Launch
        self.report = None  # the object of `ksearch check --json`
        self.kept = None  # where the case lies, if the engine keeps those that fail
        self._engine = engine
        self._trace = None
        self._folder = tempfile.TemporaryDirectory(prefix="ksearch-metal-")

    @property
    def name(self):
        return self.spec.name

    @property
    def folder(self):
        """The case, until the call is forgotten; `save` keeps it."""
        return Path(self._folder.name)

    @property
    def trace(self):
        """What the kernel does: bytes, operations, bank conflicts by line (docs/check.md). Runs the
        call again, traced."""
        if self._trace is None:
            options = self._engine.check_options(traced=True)
            self._trace = self._check(options)["trace"]
        return self._trace

    def save(self, folder):
        """Copies the case: `ksearch check FOLDER/case.json` runs it again."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        return Path(folder)

    def run(self, inputs):
        """The outputs. Evaluates the inputs, warns, raises what was found."""
        __tracebackhide__ = True
        self._write(inputs)
        self.report = self._check(self._engine.check_options())
        self._warn()
        found = [self._finding(f) for f in self.report["findings"]]
        found = [f for f in found if f.kind not in self._engine.ignore]
        if found:
            if self._engine.keep:
                self.kept = self.save(self._engine.place_to_keep(self.name))
            raise finding_error(self, found)
        return [self._output(i) for i in range(len(self.spec.output_names))]

    def _check(self, options):
        __tracebackhide__ = True
        engine = self._engine
        try:
            case = self.folder / "case.json"
            return binary.check(engine.program, case, self.folder, options, engine.seconds)
        except KernelError as error:
            raise type(error)(f"kernel {self.name!r}: {self._with_places(str(error))}") from None

    def _write(self, inputs):
        launch, spec = self.launch, self.spec
        buffers = []
        for i, (name, array) in enumerate(zip(spec.input_names, inputs)):
            where = f"input {name!r}"
            buffer = {"name": name, "shape": array.shape, "role": "in"}
            buffer["dtype"] = arrays.dtype_name(array.dtype, where)
            if spec.ensure_row_contiguous or arrays.is_row_contiguous(array):
                data = arrays.row_contiguous_bytes(array)
            else:
                data = arrays.strided_bytes(array, where)
                buffer["strides"] = arrays.strides(array)
            buffers.append(self._filled(buffer, f"in{i}", data))
        for i, name in enumerate(spec.output_names):
            shape, dtype = launch.output_shapes[i], launch.output_dtypes[i]
            buffer = {"name": name, "shape": shape, "role": "out"}
            buffer["dtype"] = arrays.dtype_name(dtype, f"output {name!r}")
            if launch.init_value is not None:
                buffer["role"] = "inout"
                data = arrays.filled_bytes(shape, launch.init_value, dtype)
                buffer = self._filled(buffer, f"out{i}", data)
            buffers.append(buffer)
        case = {
            "style": "metal_kernel_body",
            "body": self._body(),
            "launches": [
                {
                    "kernel": self.name,
                    "group_size": [min(t, g) for t, g in zip(launch.threadgroup, launch.grid)],
                    "grid_threads": launch.grid,
                }
            ],
            "buffers": buffers,
        }
        (self.folder / "kernel.metal").write_text(spec.source)
        (self.folder / "case.json").write_text(json.dumps(case, indent=1))

    def _filled(self, buffer, stem, data):
        # Not NAME.bin: that is the output's.
        path = self.folder / f"{stem}.start"
        path.write_bytes(data)
        return buffer | {"init": {"kind": "file", "params": {"path": path.name}}}

    def _body(self):
        spec = self.spec
        template = {}
        for name, value in self.launch.template:
            is_dtype = isinstance(value, mx.Dtype)
            template[name] = arrays.dtype_name(value, f"template {name!r}") if is_dtype else value
        return {
            "inputs": spec.input_names,
            "outputs": spec.output_names,
            "template": template,
            "atomic_outputs": spec.atomic_outputs,
            "header": spec.header,
            "math_mode": (spec.compile_options or {}).get("math_mode", "safe"),
        }

    def _output(self, i):
        data = (self.folder / f"{self.spec.output_names[i]}.bin").read_bytes()
        return arrays.from_bytes(data, self.launch.output_shapes[i], self.launch.output_dtypes[i])

    def _place(self, file, line):
        texts = {"kernel.metal": self.spec.source, "header": self.spec.header}
        if file not in texts:
            return Place(file, line)
        what = f"{'body' if file == 'kernel.metal' else 'header'} of {self.name}"
        return sources.place(self.spec.files, what, texts[file], line)

    def _with_places(self, text):
        def replace(match):
            place = self._place(match[1], int(match[2]))
            return f"{place.file}:{place.line}"

        return _LINE_OF_KERNEL.sub(replace, text)

    def _finding(self, said):
        return Finding(
            kind=said["kind"],
            places=tuple(self._place(w["file"], w["line"]) for w in said["where"]),
            buffer=said["buffer"],
            offset=said["offset"],
            threads=tuple(said["threads"]),
            group=tuple(said["group"]),
            message=said["message"],
            fix=said.get("fix", ""),
            count=said["count"],
        )

    def _warn(self):
        for text in self.report["warnings"]:
            text = f"kernel {self.name!r}: {self._with_places(text)}"
            warnings.warn(text, KernelWarning, stacklevel=sources.stack_level())
        for difference in self.report.get("differences", []):
            i = self.spec.output_names.index(difference["buffer"])
            rounding = _ROUNDING.get(self.launch.output_dtypes[i], 0)
            largest = math.inf if difference["largest"] is None else difference["largest"]
            if largest <= rounding * difference["largest_value"]:
                continue
            text = (
                f"kernel {self.name!r}: {difference['elements']} of {difference['of']} elements of "
                f"{difference['buffer']} differ under schedule {difference['schedule']}, by "
                f"{largest:.3g} at most: they depend on the order in which SIMD-groups run"
            )
            warnings.warn(text, OrderWarning, stacklevel=sources.stack_level())
        unwatched = self.report["trace"].get("unwatched_bytes", 0)
        if unwatched:
            text = (
                f"kernel {self.name!r}: races and unwritten elements were not looked for in "
                f"{unwatched} bytes; engine(memory_gib=...) says how much may be used"
            )
            warnings.warn(text, KernelWarning, stacklevel=sources.stack_level())


class Launch:
    """What a kernel was called with; MLX has checked the types and the numbers of each."""

    def __init__(
        self, output_shapes, output_dtypes, grid, threadgroup, template=None, init_value=None
    ):
        # MLX takes NumPy's integers too.
        self.output_shapes = [[int(size) for size in shape] for shape in output_shapes]
        self.output_dtypes = list(output_dtypes)
        self.grid = tuple(int(size) for size in grid)
        self.threadgroup = tuple(int(size) for size in threadgroup)
        self.template = list(template or ())
        self.init_value = init_value


def run(engine, spec, inputs, launch):
    """Outputs of a call, as MLX arrays."""
    __tracebackhide__ = True
    call = Call(engine, spec, launch)
    threads = math.prod(launch.threadgroup)
    if threads > _MOST_THREADS:
        text = (
            f"Thread group size ({threads}) is greater than the maximum allowed threads per "
            f"threadgroup ({_MOST_THREADS})."
        )
        raise finding_error(call, [Finding("group_size_limit", (), "", None, (), (), text)])
    if min(launch.grid + launch.threadgroup) < 0:
        raise ValueError(f"grid {launch.grid} and threadgroup {launch.threadgroup}: none is negative")
    if min(launch.grid + launch.threadgroup) == 0:
        return _without_threads(call)
    inputs = [x if isinstance(x, mx.array) else mx.array(x) for x in inputs]
    with engine.counted(call):
        return _differentiable(call.run, inputs)


def _without_threads(call):
    """Nothing runs; outputs have their start value, or no element."""
    launch = call.launch
    if launch.init_value is None and any(math.prod(shape) for shape in launch.output_shapes):
        text = "No thread runs: the grid or the group has no threads, and the output has elements."
        raise finding_error(call, [Finding("uncovered_output", (), "", None, (), (), text)])
    value = launch.init_value or 0
    return [mx.full(s, value, dtype=d) for s, d in zip(launch.output_shapes, launch.output_dtypes)]


def _differentiable(run_call, inputs):
    """Runs it where MLX may be tracing: a gradient through the kernel is the error that it is in
    MLX, not a zero."""
    __tracebackhide__ = True
    if not inputs:
        return run_call([])

    def refuse(what):
        def refused(*_):
            raise ValueError(f"[Primitive::{what}] Not implemented for CustomKernel.")

        return refused

    def traced(*arrays):
        __tracebackhide__ = True
        return run_call(arrays)

    function = mx.custom_function(traced)
    function.vjp(refuse("vjp"))
    function.jvp(refuse("jvp"))
    function.vmap(refuse("vmap"))
    try:
        return list(function(*inputs))
    except RuntimeError as error:
        if "during function transformations" not in str(error):
            raise
        raise ValueError(
            "[Primitive::vmap] Not implemented for CustomKernel. (The engine runs a kernel when it "
            "is called: its inputs need values.)"
        ) from error
