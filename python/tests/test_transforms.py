"""Kernels within MLX's function transformations."""

import mlx.core as mx
import pytest

square = mx.fast.metal_kernel(
    name="square",
    input_names=["x"],
    output_names=["y"],
    source="uint i = thread_position_in_grid.x; y[i] = x[i] * x[i];",
)


def run(x):
    return square(
        inputs=[x],
        grid=(x.size, 1, 1),
        threadgroup=(32, 1, 1),
        output_shapes=[x.shape],
        output_dtypes=[x.dtype],
    )[0]


X = mx.array([1.0, 2.0, 3.0])


def test_compiled_functions_run_it():
    assert mx.compile(lambda x: run(x) + 1)(X).tolist() == [2, 5, 10]


def test_a_gradient_through_it_is_mlxs_error():
    with pytest.raises(ValueError, match=r"\[Primitive::vjp\] Not implemented for CustomKernel"):
        mx.grad(lambda x: run(x).sum())(X)
    with pytest.raises(ValueError, match=r"\[Primitive::jvp\] Not implemented for CustomKernel"):
        mx.jvp(run, [X], [X])
    # By something else it is no gradient through the kernel.
    assert mx.grad(lambda w: (w * run(X)).sum())(X).tolist() == [1, 4, 9]


def test_a_custom_gradient():
    @mx.custom_function
    def function(x):
        return run(x)

    @function.vjp
    def _(primals, cotangent, output):
        return 2 * primals[0] * cotangent if isinstance(primals, tuple) else 2 * primals * cotangent

    value, gradient = mx.value_and_grad(lambda x: function(3 * x).sum())(X)
    assert value.item() == 9 * 14
    assert gradient.tolist() == [18, 36, 54]
    assert mx.compile(mx.grad(lambda x: function(x).sum()))(X).tolist() == [2, 4, 6]


def test_export_is_mlxs():
    recorded = []
    mx.export_function(recorded.append, run, X)
    assert "CustomKernel" in {step.get("name") for step in recorded}


def test_vmap_is_mlxs_error():
    with pytest.raises(ValueError, match=r"\[Primitive::vmap\] Not implemented for CustomKernel"):
        mx.vmap(run)(X)
