"""Arguments of the real interface: what they mean, and MLX's errors for wrong ones."""

import mlx.core as mx
import pytest

import ksearch_metal

COPY = "y[thread_position_in_grid.x] = x[thread_position_in_grid.x];"


def kernel(source=COPY, inputs=("x",), outputs=("y",), **more):
    return mx.fast.metal_kernel(
        name="argument", input_names=list(inputs), output_names=list(outputs), source=source, **more
    )


def launch(built, *inputs, shape=(8,), dtype=mx.float32, grid=(8, 1, 1), **more):
    more = {"threadgroup": (8, 1, 1), "output_shapes": [shape], "output_dtypes": [dtype]} | more
    return built(inputs=list(inputs), grid=grid, **more)


@pytest.mark.parametrize(
    "dtype",
    [mx.bool_, mx.int8, mx.uint8, mx.int16, mx.uint16, mx.int32, mx.uint32, mx.int64, mx.uint64]
    + [mx.float16, mx.bfloat16, mx.float32],
)
def test_every_dtype_comes_back(dtype, engine):
    x = mx.array([0, 1, 2, 3, 100, 101, 126, 127]).astype(dtype)
    (y,) = launch(kernel(), x, dtype=dtype)
    assert y.dtype == dtype and y.shape == (8,)
    assert y.tolist() == x.tolist()


@pytest.mark.parametrize("dtype", [mx.complex64, mx.float64])
def test_dtype_that_is_not_run(dtype):
    with mx.stream(mx.cpu):
        x = mx.zeros(8).astype(dtype)
    with pytest.raises(ksearch_metal.Unsupported, match="input 'x' is"):
        launch(kernel(), x)
    with pytest.raises(ksearch_metal.Unsupported, match="output 'y' is"):
        launch(kernel(), mx.zeros(8), dtype=dtype)


SIGNATURE = """
    uint i = thread_position_in_grid.x;
    y[i] = a + b[i % 3] + c[i] + (flag ? n : 0) + T(0.5) + c_shape[1] * 100 + c_ndim * 1000;
    z[i] = c_strides[0];
"""


def test_scalars_small_arrays_template_and_shapes():
    c = mx.arange(8, dtype=mx.float16).reshape(4, 2)
    y, z = launch(
        kernel(SIGNATURE, ("a", "b", "c"), ("y", "z")),
        7.5,
        mx.array([1, 2, 3]),
        c,
        template=[("T", mx.bfloat16), ("n", -3), ("flag", True)],
        output_shapes=[(2, 4), (8,)],
        output_dtypes=[mx.float32, mx.int64],
    )
    want = [7.5 + i % 3 + 1 + i - 3 + 0.5 + 200 + 2000 for i in range(8)]
    assert y.flatten().tolist() == want and y.shape == (2, 4)
    assert z.tolist() == [2] * 8


def test_verbose_prints_what_mlx_builds(capfd):
    launch(kernel(), mx.zeros(8), verbose=True)
    said = capfd.readouterr().out
    assert "Generated source code for `argument`:" in said
    assert "const device float* x [[buffer(0)]]," in said
    assert COPY in said


def test_group_is_clamped_to_the_grid():
    source = "y[thread_position_in_grid.x] = threads_per_threadgroup.x * 10 + threads_per_threadgroup.y;"
    (y,) = launch(kernel(source, ()), grid=(8, 1, 1), threadgroup=(256, 4, 1))
    assert y.tolist() == [81] * 8


def test_sizes_may_be_numpys():
    numpy = pytest.importorskip("numpy")
    (y,) = launch(kernel(), mx.arange(8, dtype=mx.float32), grid=(numpy.prod((2, 4)), 1, 1))
    assert y.tolist() == list(range(8))


def test_tail_group_is_smaller():
    source = "y[thread_position_in_grid.x] = threadgroup_position_in_grid.x;"
    (y,) = launch(kernel(source, ()), shape=(10,), grid=(10, 1, 1), threadgroup=(4, 1, 1))
    assert y.tolist() == [0] * 4 + [1] * 4 + [2] * 2


def test_init_value_and_atomic_outputs():
    source = "atomic_fetch_add_explicit(&y[thread_position_in_grid.x % 2], 1, memory_order_relaxed);"
    built = kernel(source, (), atomic_outputs=True)
    (y,) = launch(built, shape=(3,), dtype=mx.int32, grid=(101, 1, 1), init_value=5)
    assert y.tolist() == [56, 55, 5]


def test_lazy_inputs_are_evaluated():
    x = mx.arange(8, dtype=mx.float32)
    (y,) = launch(kernel(), (x * 2 + 1)[::-1])
    assert y.tolist() == [15, 13, 11, 9, 7, 5, 3, 1]


def test_empty_arrays():
    (y,) = launch(kernel(), mx.zeros((0, 4)), shape=(0, 4), grid=(0, 1, 1))
    assert y.shape == (0, 4) and y.dtype == mx.float32
    (y,) = launch(kernel(), mx.zeros(0), init_value=3, grid=(0, 1, 1))
    assert y.tolist() == [3] * 8
    with pytest.raises(ksearch_metal.UncoveredOutput):
        launch(kernel(), mx.zeros(0), grid=(0, 1, 1))


def test_math_mode():
    source = """
        #if defined(__FAST_MATH__) && __FAST_MATH__
        y[thread_position_in_grid.x] = 1;
        #else
        y[thread_position_in_grid.x] = 0;
        #endif
    """
    for mode, want in (("safe", 0), ("fast", 1)):
        built = kernel(source, (), compile_options={"math_mode": mode})
        assert launch(built)[0].tolist() == [want] * 8


def test_streams():
    made = (mx.new_stream(mx.gpu), mx.default_stream(mx.gpu), mx.new_thread_local_stream(mx.gpu))
    for stream in (None, mx.gpu, mx.Device(mx.gpu, 0), *made):
        launch(kernel(), mx.zeros(8), stream=stream)
    for stream in (mx.cpu, mx.new_stream(mx.cpu)):
        with pytest.raises(ValueError, match="Only supports the GPU"):
            launch(kernel(), mx.zeros(8), stream=stream)


@pytest.mark.parametrize(
    "more, error, match",
    [
        ({"inputs": []}, ValueError, "Expected `inputs` to have size 1 but got size 0"),
        ({"output_shapes": []}, ValueError, "Expected `output_shapes` to have size 1"),
        ({"output_dtypes": [mx.int8] * 2}, ValueError, "Expected `output_dtypes` to have size 1"),
        ({"template": [("T", 1.5)]}, ValueError, "Invalid template argument"),
        ({"grid": (8, 1)}, TypeError, "incompatible function arguments"),
        ({"threadgroup": None}, TypeError, "incompatible function arguments"),
        ({"inputs": ["x"]}, ValueError, "Invalid type"),
        ({"unknown": 1}, TypeError, "incompatible function arguments"),
    ],
)
def test_a_wrong_call_raises_what_mlx_raises(more, error, match):
    arguments = {
        "inputs": [mx.zeros(8)],
        "grid": (8, 1, 1),
        "threadgroup": (8, 1, 1),
        "output_shapes": [(8,)],
        "output_dtypes": [mx.float32],
    }
    with pytest.raises(error, match=match):
        kernel()(**arguments | more)


def test_arguments_are_keywords():
    with pytest.raises(TypeError, match="incompatible function arguments"):
        kernel()([mx.zeros(8)], [(8,)], [mx.float32], (8, 1, 1), (8, 1, 1))


@pytest.mark.parametrize(
    "more, error, match",
    [
        ({"outputs": ()}, ValueError, "Must specify at least one output"),
        ({"compile_options": {"nothing": 1}}, ValueError, "Unknown compile option `nothing`"),
        ({"compile_options": {"math_mode": "precise"}}, ValueError, "Expected math_mode to be"),
        ({"compile_options": []}, ValueError, "to be a dict"),
        ({"header": 1}, TypeError, "incompatible function arguments"),
    ],
)
def test_a_wrong_kernel_raises_what_mlx_raises(more, error, match):
    with pytest.raises(error, match=match):
        kernel(**more)


def test_more_buffers_than_metal_has():
    names = [f"x{i}" for i in range(31)]
    with pytest.raises(ksearch_metal.KernelError, match="31"):
        launch(kernel("y[0] = x0[0];", names), *[mx.zeros(8)] * 31)
