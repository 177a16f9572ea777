"""Kernels of the kinds that MLX's documentation shows, against MLX's own operations on the CPU."""

import math

import mlx.core as mx
import pytest

DTYPES = [mx.float32, mx.float16, mx.bfloat16]
# Of one result: float32 as C's library, halves rounded once.
TOLERANCE = {mx.float32: 1e-5, mx.float16: 2e-3, mx.bfloat16: 1e-2}

exponential = mx.fast.metal_kernel(
    name="exponential",
    input_names=["x"],
    output_names=["y"],
    source="""
        uint i = thread_position_in_grid.x;
        T value = x[i];
        y[i] = metal::exp(value);
    """,
)

exponential_strided = mx.fast.metal_kernel(
    name="exponential_strided",
    input_names=["x"],
    output_names=["y"],
    source="""
        uint i = thread_position_in_grid.x;
        uint at = elem_to_loc(i, x_shape, x_strides, x_ndim);
        y[i] = metal::exp(T(x[at]));
    """,
    ensure_row_contiguous=False,
)


def run_exponential(kernel, x, T=mx.float32):
    return kernel(
        inputs=[x],
        template=[("T", T)],
        grid=(x.size, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[x.shape],
        output_dtypes=[x.dtype],
    )[0]


def assert_close(got, want, dtype=None):
    dtype = dtype or got.dtype
    assert got.shape == want.shape
    tolerance = TOLERANCE[dtype]
    got, want = got.astype(mx.float32), want.astype(mx.float32)
    assert mx.allclose(got, want, rtol=tolerance, atol=tolerance), mx.abs(got - want).max()


@pytest.mark.parametrize("dtype", DTYPES)
def test_exponential(dtype):
    x = mx.random.normal((4, 75)).astype(dtype)
    y = run_exponential(exponential, x)
    assert y.dtype == dtype
    assert_close(y, mx.exp(x.astype(mx.float32)), dtype)


def test_strides_are_those_of_the_view():
    whole = mx.arange(48, dtype=mx.float32).reshape(4, 12) / 16
    for view in (whole[::2], whole.T, whole[1:3, 2:9:3], mx.broadcast_to(whole[:, :1], (4, 5))):
        assert_close(run_exponential(exponential_strided, view), mx.exp(view))
        assert_close(run_exponential(exponential, view), mx.exp(view))


row_softmax = mx.fast.metal_kernel(
    name="row_softmax",
    input_names=["x"],
    output_names=["y"],
    source="""
        uint row = threadgroup_position_in_grid.y;
        uint lane = thread_index_in_simdgroup;
        uint group = simdgroup_index_in_threadgroup;
        threadgroup float shared[32];
        device const T* from = x + row * COLUMNS;

        float largest = Limits<float>::finite_min;
        for (int c = thread_position_in_threadgroup.x; c < COLUMNS; c += threads_per_threadgroup.x)
            largest = max(largest, float(from[c]));
        largest = simd_max(largest);
        if (lane == 0) shared[group] = largest;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        largest = simd_max(lane < simdgroups_per_threadgroup ? shared[lane] : Limits<float>::finite_min);
        threadgroup_barrier(mem_flags::mem_threadgroup);

        float sum = 0;
        for (int c = thread_position_in_threadgroup.x; c < COLUMNS; c += threads_per_threadgroup.x)
            sum += metal::exp(float(from[c]) - largest);
        sum = simd_sum(sum);
        if (lane == 0) shared[group] = sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        sum = simd_sum(lane < simdgroups_per_threadgroup ? shared[lane] : 0.0f);

        for (int c = thread_position_in_threadgroup.x; c < COLUMNS; c += threads_per_threadgroup.x)
            y[row * COLUMNS + c] = T(metal::exp(float(from[c]) - largest) / sum);
    """,
)


@pytest.mark.parametrize("dtype", DTYPES)
def test_simd_reductions(dtype):
    x = mx.random.normal((5, 333)).astype(dtype)
    y = row_softmax(
        inputs=[x],
        template=[("T", dtype), ("COLUMNS", 333)],
        grid=(128, 5, 1),
        threadgroup=(128, 1, 1),
        output_shapes=[x.shape],
        output_dtypes=[dtype],
    )[0]
    assert_close(y, mx.softmax(x.astype(mx.float32), axis=-1), dtype)


# Bilinear sampling: a gather forwards, sums by atomics backwards.
CORNERS = """
    const int height = x_shape[1], width = x_shape[2], channels = x_shape[3];
    const float u = ((float(at[2 * point]) + 1) * width - 1) / 2;
    const float v = ((float(at[2 * point + 1]) + 1) * height - 1) / 2;
    const int left = floor(u), top = floor(v);
    const int image = point / (at_shape[1] * at_shape[2]) * height * width * channels;
"""
sample = mx.fast.metal_kernel(
    name="sample",
    input_names=["x", "at"],
    output_names=["y"],
    source="""
        const uint i = thread_position_in_grid.x;
        const uint point = i / x_shape[3], channel = i % x_shape[3];
    """
    + CORNERS
    + """
        float sum = 0;
        for (int corner = 0; corner < 4; ++corner) {
            const int column = left + corner % 2, row = top + corner / 2;
            if (row < 0 || row >= height || column < 0 || column >= width) continue;
            sum += (1 - fabs(u - column)) * (1 - fabs(v - row)) *
                   x[image + (row * width + column) * channels + channel];
        }
        y[i] = T(sum);
    """,
)
sample_gradient = mx.fast.metal_kernel(
    name="sample_gradient",
    input_names=["x", "at", "dy"],
    output_names=["dx", "dat"],
    atomic_outputs=True,
    source="""
        const uint padded = ceildiv(x_shape[3], threads_per_simdgroup) * threads_per_simdgroup;
        const uint i = thread_position_in_grid.x;
        const uint point = i / padded, channel = i % padded;
    """
    + CORNERS
    + """
        float du = 0, dv = 0;
        const bool used = channel < uint(channels);
        const float d = used ? float(dy[point * channels + channel]) : 0.0f;
        for (int corner = 0; corner < 4; ++corner) {
            const int column = left + corner % 2, row = top + corner / 2;
            if (!used || row < 0 || row >= height || column < 0 || column >= width) continue;
            const int place = image + (row * width + column) * channels + channel;
            const float across = 1 - fabs(u - column), along = 1 - fabs(v - row);
            atomic_fetch_add_explicit(&dx[place], across * along * d, memory_order_relaxed);
            du += (column > u ? 1 : -1) * along * float(x[place]) * d;
            dv += (row > v ? 1 : -1) * across * float(x[place]) * d;
        }
        du = simd_sum(du);
        dv = simd_sum(dv);
        if (thread_index_in_simdgroup == 0) {
            atomic_fetch_add_explicit(&dat[2 * point], du * width / 2, memory_order_relaxed);
            atomic_fetch_add_explicit(&dat[2 * point + 1], dv * height / 2, memory_order_relaxed);
        }
    """,
)


@mx.custom_function
def grid_sample(x, at):
    shape = (*at.shape[:3], x.shape[3])
    return sample(
        inputs=[x, at],
        template=[("T", x.dtype)],
        output_shapes=[shape],
        output_dtypes=[x.dtype],
        grid=(math.prod(shape), 1, 1),
        threadgroup=(256, 1, 1),
    )[0]


@grid_sample.vjp
def grid_sample_vjp(primals, cotangent, _):
    x, at = primals
    padded = (x.shape[3] + 31) // 32 * 32
    return tuple(
        sample_gradient(
            inputs=[x, at, cotangent],
            output_shapes=[x.shape, at.shape],
            output_dtypes=[mx.float32, mx.float32],
            grid=(math.prod(at.shape[:3]) * padded, 1, 1),
            threadgroup=(256, 1, 1),
            init_value=0,
        )
    )


def grid_sample_reference(x, at):
    batch, height, width, _ = x.shape
    u = ((at[..., 0] + 1) * width - 1) / 2
    v = ((at[..., 1] + 1) * height - 1) / 2
    images = mx.arange(batch)[:, None, None]
    total = 0
    for dv in (0, 1):
        for du in (0, 1):
            column = mx.stop_gradient(mx.floor(u)) + du
            row = mx.stop_gradient(mx.floor(v)) + dv
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            weight = (1 - mx.abs(u - column)) * (1 - mx.abs(v - row)) * inside
            r = mx.clip(row, 0, height - 1).astype(mx.int32)
            c = mx.clip(column, 0, width - 1).astype(mx.int32)
            total = total + weight[..., None] * x[images, r, c]
    return total


@pytest.mark.parametrize("dtype", DTYPES)
def test_grid_sample(dtype):
    x = mx.random.normal((2, 6, 7, 3)).astype(dtype)
    at = mx.random.uniform(-1, 1, (2, 4, 5, 2))
    assert_close(grid_sample(x, at), grid_sample_reference(x.astype(mx.float32), at), dtype)


def test_grid_sample_gradient_by_atomics():
    x = mx.random.normal((2, 6, 7, 3))
    at = mx.random.uniform(-1, 1, (2, 4, 5, 2))
    weight = mx.random.normal((2, 4, 5, 3))

    def loss(function):
        return lambda x, at: (function(x, at) * weight).sum()

    got = mx.grad(loss(grid_sample), argnums=(0, 1))(x, at)
    want = mx.grad(loss(grid_sample_reference), argnums=(0, 1))(x, at)
    for g, w in zip(got, want):
        assert mx.allclose(g, w, rtol=1e-4, atol=1e-4)
