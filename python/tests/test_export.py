"""`ksearch export --as mlx-python`: the file is run in the engine, against its own reference."""

import importlib.util
import json
import os
import subprocess
from pathlib import Path

import mlx.core as mx
import pytest

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]
TWO_PASS = HERE / "two_pass_softmax" / "program.json"
LOOP = CHECKOUT / "tasks" / "selective_scan" / "experts" / "mlx_lm_loop" / "program.json"
TAKEN = HERE / "taken_names"  # axes, tensors, ... with names that Python or the file has already
TOLERANCE = {mx.float32: 1e-5, mx.float16: 2e-3, mx.bfloat16: 1e-2}


def programs():
    """With their dtypes, None for all: naive ones in one, a last step of each task in all of the
    task's; every program in all where $KSEARCH_ALL_PROGRAMS is set."""
    naive = sorted(CHECKOUT.glob("tasks/*/naive/mlx/program.json"))
    steps = sorted(CHECKOUT.glob("catalog/*/mlx/*/program.json"))
    if os.environ.get("KSEARCH_ALL_PROGRAMS"):
        experts = sorted(CHECKOUT.glob("tasks/*/experts/mlx*/program.json"))
        experts = [e for e in experts if e.parent.name != LOOP.parent.name]
        return [(program, None) for program in [TWO_PASS, *naive, *experts, *steps]]
    last = {step.parents[2].name: step for step in steps if is_last(step.parent)}
    return [(p, 1) for p in [TWO_PASS, *naive]] + [(p, None) for p in last.values()]


def is_last(step):
    others = [json.loads(other.read_text()) for other in step.parent.glob("*/step.json")]
    return not any(step.name in other["parents"] for other in others)


def export(engine, program, folder, *arguments):
    command = [engine.program, "export", str(program), "--as", "mlx-python", "--out", str(folder)]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    path = Path(done.stdout.split()[0])
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def softmax(dtype):
    return (mx.random.normal((3, 77)).astype(dtype),), {}


def rms_norm(dtype):
    return (mx.random.normal((3, 77)).astype(dtype), mx.random.normal((77,)).astype(dtype)), {
        "eps": 1e-5
    }


def matmul(dtype):
    a, b = mx.random.normal((33, 40)), mx.random.normal((40, 65))
    return (a.astype(dtype), b.astype(dtype)), {}


def attention(dtype):
    q, k, v = (mx.random.normal((1, h, n, 64)).astype(dtype) for h, n in ((4, 33), (2, 40), (2, 40)))
    return (q, k, v), {"causal": True, "scale": 0.125}


def attention_decode(dtype):
    q, k, v = (mx.random.normal(s).astype(dtype) for s in ((2, 4, 64), (2, 2, 50, 64), (2, 2, 50, 64)))
    return (q, k, v, mx.array([50, 7], dtype=mx.int32)), {"scale": 0.125}


def paged_attention(dtype):
    q = mx.random.normal((2, 4, 64)).astype(dtype)
    k, v = (mx.random.normal((6, 16, 2, 64)).astype(dtype) for _ in range(2))
    table = ([0, 3, 4], [5, 1, 2, 0], [9, 16])
    return (q, k, v, *(mx.array(t, dtype=mx.int32) for t in table)), {"scale": 0.125}


def selective_scan(dtype):
    shapes = {"u": (2, 6, 33), "delta": (2, 6, 33), "B": (2, 16, 33), "C": (2, 16, 33)}
    u, delta, b, c = (mx.random.normal(s).astype(dtype) for s in shapes.values())
    A = -mx.random.uniform(0.1, 4, (6, 16))
    more = {"D": mx.random.normal((6,)), "z": mx.random.normal((2, 6, 33)).astype(dtype)}
    return (u, delta * 0.1, A, b, c), more | {"delta_softplus": True}


def moe_routing(dtype):
    return (mx.random.normal((9, 8)), mx.random.normal((9, 32)).astype(dtype)), {"K": 2}


def cases():
    for program, count in programs():
        task = json.loads(program.read_text())["task"]
        definition = json.loads((CHECKOUT / "tasks" / task / "definition.json").read_text())
        label = f"{task}-{program.parent.parent.name}-{program.parent.name}"
        for dtype in definition["types"]["T"][:count]:
            yield pytest.param(program, task, getattr(mx, dtype), id=f"{label}-{dtype}")


@pytest.mark.parametrize("program, task, dtype", list(cases()))
def test_program(program, task, dtype, engine, tmp_path):
    module = export(engine, program, tmp_path)
    mx.random.seed(7)
    inputs, more = globals()[task](dtype)
    got, want = getattr(module, task)(*inputs, **more), module.reference(*inputs, **more)
    if not isinstance(got, (tuple, list)):
        got, want = [got], [want]
    assert len(got) == len(want)
    for g, w in zip(got, want):
        assert g.shape == w.shape and g.dtype == w.dtype
        difference = mx.abs(g.astype(mx.float32) - w.astype(mx.float32))
        size = mx.abs(w.astype(mx.float32)).max().item() or 1
        assert difference.max().item() <= TOLERANCE.get(g.dtype, 0) * size


def test_the_file_says_what_it_is(engine, tmp_path):
    module = export(engine, TWO_PASS, tmp_path, "--name", "rows")
    assert "not measured" in module.__doc__ and "Softmax of each row." in module.__doc__
    assert "x [rows, cols] T" in module.rows.__doc__
    with pytest.raises(ValueError, match="x has 3 dimensions, 2 are meant"):
        module.rows(mx.zeros((1, 2, 3)))
    with pytest.raises(TypeError, match="x is mlx.core.int32; mlx.core.float32.* will do"):
        module.rows(mx.zeros((2, 3), dtype=mx.int32))


def test_tunables_are_chosen_by_shape_and_kernels_built_once(engine, tmp_path):
    module = export(engine, TWO_PASS, tmp_path)
    for columns in (77, 300, 77):
        x = mx.random.normal((2, columns))
        assert mx.allclose(module.softmax(x), module.reference(x), rtol=1e-5, atol=1e-6)
    assert module._kernel.cache_info().misses == 4  # two kernels, with and without BASE_2
    # Beyond what any choice allows.
    with pytest.raises(ValueError, match="there is no plan for these sizes"):
        module.softmax(mx.zeros((1, 600000)))


def test_any_name_will_do(engine, tmp_path):
    arguments = ("--task", str(TAKEN), "--name", "run")
    module = export(engine, TAKEN / "program.json", tmp_path, *arguments)
    assert module.run.__doc__.startswith("made = mx * D + stream + def + hashlib")
    more = {"stream_": 3, "def_": True, "hashlib": 0.5}
    for columns in (70, 130):
        x = (mx.arange(3 * columns) % 7).reshape(3, columns).astype(mx.float16)
        d = (mx.arange(columns) % 5).astype(mx.float16)
        want = x * d + 4.5
        made, first = module.run(x, d, NAN=1, **more)
        assert mx.array_equal(made, want) and mx.array_equal(first, want[:, 0])
        made, first = module.run(x, d, NAN=1, detail=mx.array([2.0]), **more)
        assert mx.array_equal(made, want + 2)
    with pytest.raises(ValueError, match="no launch of the plan writes made for these sizes"):
        module.run(mx.zeros((1, 4)), mx.zeros((4,)), NAN=1, **more)
    with pytest.raises(ValueError, match="NAN == errno does not hold"):
        module.run(mx.zeros((1, 4)), mx.zeros((4,)), NAN=2, **more)


@pytest.mark.parametrize(
    "program, why",
    [
        (CHECKOUT / "tasks" / "softmax" / "naive" / "cpp", "the program is of dialect cpp"),
        (LOOP, "MLX gives every call outputs of its own"),
    ],
    ids=["dialect", "loop"],
)
def test_what_mlx_cannot_have_is_refused(program, why, engine, tmp_path):
    command = [engine.program, "export", str(program), "--as", "mlx-python", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and why in done.stderr
