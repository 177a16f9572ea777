"""Kernels that are wrong: each raises, with the line."""

import mlx.core as mx
import pytest

import ksearch_metal


def call(source, *inputs, shape=(256,), dtype=mx.float32, grid=256, threadgroup=256, **more):
    build = {k: more.pop(k) for k in ("header", "atomic_outputs") if k in more}
    kernel = mx.fast.metal_kernel(
        name="wrong", input_names=["x", "z"][: len(inputs)], output_names=["y"], source=source, **build
    )
    return kernel(
        inputs=list(inputs),
        grid=(grid, 1, 1),
        threadgroup=(threadgroup, 1, 1),
        output_shapes=[shape],
        output_dtypes=[dtype],
        **more,
    )[0]


def line_of(text):
    with open(__file__) as file:
        return next(n for n, line in enumerate(file, 1) if text in line)


def test_race_names_both_lines_of_this_file():
    source = """
        uint t = thread_index_in_threadgroup;
        threadgroup float part[256];
        part[t] = x[t];  // the racy write
        for (uint n = 128; n > 0; n /= 2) {
            threadgroup_barrier(mem_flags::mem_none);
            if (t < n) part[t] += part[t + n];  // the racy sum
        }
        if (t == 0) y[0] = part[0];
    """
    with pytest.warns(ksearch_metal.KernelWarning, match="this barrier orders no memory"):
        with pytest.raises(ksearch_metal.DataRace) as caught:
            call(source, mx.ones(256), shape=(1,))
    error = caught.value
    assert error.kind == "data_race"
    assert f"{__file__}:{line_of('// the racy write')}" in str(error)
    assert [p.line for p in error.findings[0].places] == [
        line_of("// the racy write"),
        line_of("// the racy sum"),
    ]
    assert error.findings[0].places[0].file == __file__
    assert "Put a barrier" in str(error)


def test_race_between_groups():
    with pytest.raises(ksearch_metal.DataRace):
        call("y[0] = x[thread_position_in_grid.x];", mx.arange(256), shape=(1,), threadgroup=32)


def test_out_of_bounds_in_the_header():
    header = "template <typename P> float next(P p, uint i) { return p[i + 1]; }"
    with pytest.raises(ksearch_metal.OutOfBounds) as caught:
        call(
            "uint i = thread_position_in_grid.x; y[i] = next(x, i);", mx.ones(256), header=header
        )
    finding = caught.value.findings[0]
    assert (finding.buffer, finding.offset) == ("x", 1024)
    assert finding.threads == (255,)
    assert __file__ in {place.file for place in finding.places}


def test_a_view_ends_where_it_ends():
    kernel = mx.fast.metal_kernel(
        name="view",
        input_names=["x"],
        output_names=["y"],
        source="uint i = thread_position_in_grid.x; y[i] = x[i + 1];",
        ensure_row_contiguous=False,
    )
    with pytest.raises(ksearch_metal.OutOfBounds):
        kernel(
            inputs=[mx.ones(16)[:8]],
            grid=(8, 1, 1),
            threadgroup=(8, 1, 1),
            output_shapes=[(8,)],
            output_dtypes=[mx.float32],
        )


def test_uncovered_output_and_how_to_allow_it():
    source = "uint i = thread_position_in_grid.x; if (i % 2 == 0) y[i] = 1;"
    with pytest.raises(ksearch_metal.UncoveredOutput):
        call(source)
    assert call(source, init_value=7).tolist() == [1, 7] * 128
    with ksearch_metal.engine(ignore={"uncovered_output"}):
        assert call(source)[::2].tolist() == [1] * 128


def test_barrier_that_some_miss():
    with pytest.raises(ksearch_metal.BarrierDivergence):
        call(
            """
            uint i = thread_position_in_grid.x;
            if (i < 100) threadgroup_barrier(mem_flags::mem_threadgroup);
            y[i] = i;
            """
        )


def test_undefined_values():
    with pytest.raises(ksearch_metal.UndefinedValue) as caught:
        call(
            """
            threadgroup float shared[256];
            uint i = thread_position_in_grid.x;
            y[i] = shared[i];
            """
        )
    assert caught.value.kind == "uninitialised_group_memory"
    # The last SIMD-group has 8 lanes: lane 16 is not there.
    with pytest.raises(ksearch_metal.UndefinedValue) as caught:
        call(
            "y[thread_position_in_grid.x] = simd_shuffle_xor(x[thread_position_in_grid.x], 16);",
            mx.ones(40),
            shape=(40,),
            grid=40,
        )
    assert caught.value.kind == "undefined_lane"


def test_limits():
    with pytest.raises(ksearch_metal.LimitExceeded) as caught:
        call(
            """
            threadgroup float big[9000];
            uint i = thread_position_in_grid.x;
            big[i] = i;
            y[i] = big[i];
            """
        )
    assert caught.value.kind == "group_memory_limit"
    with pytest.raises(ValueError, match=r"Thread group size \(2048\) is greater than") as caught:
        call("y[thread_position_in_grid.x] = 1;", threadgroup=2048)
    assert isinstance(caught.value, ksearch_metal.GroupSizeLimit)


def test_result_that_depends_on_the_order_of_simd_groups():
    source = """
        uint at = atomic_fetch_add_explicit(&y[0], 1u, memory_order_relaxed);
        atomic_store_explicit(&y[at + 1], thread_position_in_grid.x, memory_order_relaxed);
    """
    with pytest.warns(ksearch_metal.OrderWarning, match="elements of y differ under schedule"):
        call(
            source,
            shape=(257,),
            dtype=mx.uint32,
            atomic_outputs=True,
            init_value=0,
        )


def test_compile_error_names_a_line_of_this_file():
    with pytest.raises(ksearch_metal.CompileError) as caught:
        call("y[thread_position_in_grid.x] = nowhere;  // undeclared")
    assert f"{__file__}:{line_of('// undeclared')}" in str(caught.value)
    assert "nowhere" in str(caught.value)
    assert isinstance(caught.value, RuntimeError)


def test_ran_fine_after_an_error():
    with pytest.raises(ksearch_metal.FindingError):
        call("y[thread_position_in_grid.x + 256] = 1;")
    assert call("y[thread_position_in_grid.x] = 2;").tolist() == [2] * 256
