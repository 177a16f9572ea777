"""A kernel of a project, and its test: pytest --metal-engine python/examples/test_row_sum.py"""

import mlx.core as mx
import pytest

SOURCE = """
    uint row = threadgroup_position_in_grid.y;
    uint t = thread_index_in_threadgroup;
    threadgroup float part[THREADS];
    float sum = 0;
    for (uint c = t; c < x_shape[1]; c += THREADS)
        sum += x[row * x_shape[1] + c];
    part[t] = sum;
    for (uint n = THREADS / 2; n > 0; n /= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (t < n)
            part[t] += part[t + n];
    }
    if (t == 0)
        y[row] = part[0];
"""
kernel = mx.fast.metal_kernel(
    name="row_sum", input_names=["x"], output_names=["y"], source=SOURCE
)


def row_sum(x, threads=128):
    return kernel(
        inputs=[x],
        template=[("THREADS", threads)],
        grid=(threads, x.shape[0], 1),
        threadgroup=(threads, 1, 1),
        output_shapes=[(x.shape[0],)],
        output_dtypes=[mx.float32],
    )[0]


@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16])
@pytest.mark.parametrize("columns", [1, 127, 128, 1000])
def test_row_sum(columns, dtype):
    x = mx.random.normal((3, columns)).astype(dtype)
    want = x.astype(mx.float32).sum(axis=1)
    assert mx.allclose(row_sum(x), want, rtol=1e-4, atol=1e-4)
