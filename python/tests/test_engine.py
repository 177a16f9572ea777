"""The engine: options, what it tells of a call, what it changes and puts back."""

import subprocess
import sys
import textwrap

import mlx.core as mx
import pytest

import ksearch_metal

double = mx.fast.metal_kernel(
    name="double",
    input_names=["x"],
    output_names=["y"],
    source="uint i = thread_position_in_grid.x; y[i] = 2 * x[i];",
)


def run(x, kernel=double):
    return kernel(
        inputs=[x],
        grid=(x.size, 1, 1),
        threadgroup=(64, 1, 1),
        output_shapes=[x.shape],
        output_dtypes=[x.dtype],
    )[0]


def test_the_last_call_and_its_trace(engine):
    run(mx.ones(64))
    run(mx.ones(128))
    assert engine.calls == 2
    assert engine.last.name == "double"
    assert engine.last.report["verdict"] == "clean"
    trace = engine.last.trace
    assert trace["threads"] == 128
    assert [b["bytes_read"] for b in trace["buffers"] if b["name"] == "x"] == [512]


def test_schedules_are_those_asked_for():
    with ksearch_metal.engine(schedules=["random:7"]) as engine:
        assert run(mx.ones(8)).tolist() == [2] * 8
    assert "random:7" in engine.check_options()
    with ksearch_metal.engine(schedules=["sideways"]):
        with pytest.raises(ksearch_metal.KernelError, match="sideways"):
            run(mx.ones(8))


def test_unwatched_gives_outputs_alone():
    racy = mx.fast.metal_kernel(
        name="racy", input_names=["x"], output_names=["y"], source="y[0] = x[0];\ny[1] = x[1];"
    )
    with ksearch_metal.engine(watch=False):
        assert run(mx.array([1.0, 2.0]), racy).tolist() == [1, 2]


def test_a_call_that_fails_is_kept(tmp_path):
    wrong = mx.fast.metal_kernel(
        name="wrong", input_names=["x"], output_names=["y"], source="y[0] = x[0] + x[77];"
    )
    with ksearch_metal.engine(keep=tmp_path) as engine:
        for _ in range(2):
            with pytest.raises(ksearch_metal.OutOfBounds, match="again: ksearch check"):
                run(mx.ones(1), wrong)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["wrong-0", "wrong-1"]
    again = [engine.program, "check", str(tmp_path / "wrong-0" / "case.json")]
    done = subprocess.run(again, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "out_of_bounds" in done.stdout


def test_answers_of_a_gpu_are_put_back():
    # The engine of conftest.py is active here; a program without one sees what MLX says.
    assert mx.metal.is_available() and mx.is_available(mx.gpu) and mx.device_count(mx.gpu) == 1
    assert mx.default_device() == mx.gpu
    with mx.stream(mx.cpu):
        assert mx.default_device() == mx.cpu
    with mx.stream(mx.gpu):
        assert mx.default_device() == mx.gpu
        assert (mx.ones(2) + 1).tolist() == [2, 2]
    mx.set_default_device(mx.cpu)
    assert mx.default_device() == mx.cpu
    mx.set_default_device(mx.gpu)
    mx.synchronize(mx.gpu)
    assert mx.device_info()["max_recommended_working_set_size"] > 0
    program = """
        import mlx.core as mx, ksearch_metal
        before = mx.default_device, mx.stream, mx.metal.is_available
        with ksearch_metal.engine():
            assert mx.metal.is_available()
        assert before == (mx.default_device, mx.stream, mx.metal.is_available)
        assert not mx.metal.is_available()
        kernel = mx.fast.metal_kernel(name="k", input_names=[], output_names=["y"], source="y[0] = 1;")
        call = dict(inputs=[], grid=(1, 1, 1), threadgroup=(1, 1, 1), output_shapes=[(1,)],
                    output_dtypes=[mx.float32])
        with ksearch_metal.engine(gpu=False):
            assert not mx.metal.is_available()
            assert kernel(**call)[0].item() == 1
        try:
            kernel(**call)
        except RuntimeError as error:
            assert "No Metal back-end" in str(error)
        else:
            raise AssertionError("ran without an engine and without Metal")
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)


def test_without_the_program_it_says_what_to_do(monkeypatch):
    monkeypatch.setenv("KSEARCH", "/nowhere/ksearch")
    with pytest.raises(ksearch_metal.EngineError, match=r"/nowhere/ksearch \(\$KSEARCH\) is no"):
        with ksearch_metal.engine():
            pass


def run_pytest(folder, *arguments):
    plugin = ["-p", "pytest_ksearch_metal"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


SUITE = '''
import unittest
import mlx.core as mx

kernel = mx.fast.metal_kernel(
    name="copy", input_names=["x"], output_names=["y"],
    source="""
        uint i = thread_position_in_grid.x;
        y[i] = x[i + 1];
    """)

@unittest.skipIf(not mx.metal.is_available(), "Metal is not available")
class TestCopy(unittest.TestCase):
    def test_copy(self):
        x = mx.ones(8)
        call = dict(inputs=[x], grid=(8, 1, 1), threadgroup=(8, 1, 1), stream=mx.gpu)
        y = kernel(output_shapes=[(8,)], output_dtypes=[mx.float32], **call)[0]
        self.assertTrue(mx.array_equal(x, y))
'''


def test_under_pytest(tmp_path):
    suite = tmp_path / "test_copy.py"
    suite.write_text(SUITE)
    without = run_pytest(tmp_path)
    assert "1 skipped" in without.stdout, without.stdout + without.stderr
    wrong = run_pytest(tmp_path, "--metal-engine")
    assert "1 failed" in wrong.stdout, wrong.stdout + wrong.stderr
    assert f"{suite}:9: y[i] = x[i + 1];" in wrong.stdout
    assert "metal engine: 1 kernel call, " in wrong.stdout
    suite.write_text(SUITE.replace("i + 1", "i"))
    (tmp_path / "pytest.ini").write_text("[pytest]\nmetal_engine = true\n")
    right = run_pytest(tmp_path)
    assert "1 passed" in right.stdout, right.stdout + right.stderr


def test_as_a_module(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys, mlx.core as mx\nprint(sys.argv[1:], mx.metal.is_available())\n")
    command = [sys.executable, "-m", "ksearch_metal", str(script), "--flag"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "['--flag'] True\n"
