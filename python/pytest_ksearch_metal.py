"""pytest --metal-engine: kernels of mx.fast.metal_kernel run in ksearch's engine.

A module of its own: pytest imports it always, and MLX only where the engine is asked for."""

import contextlib

import pytest

_stack = contextlib.ExitStack()
_engine = pytest.StashKey()


def pytest_addoption(parser):
    group = parser.getgroup("metal engine", "Metal kernels of MLX without a GPU")
    group.addoption("--metal-engine", action="store_true", help="Run kernels in ksearch's engine")
    group.addoption(
        "--metal-schedules",
        default="default,reversed",
        help="Orders of SIMD-groups each call is run under [default,reversed]",
    )
    group.addoption("--metal-unwatched", action="store_true", help="Outputs alone, faster")
    group.addoption("--metal-keep", metavar="DIR", help="Keep the cases of calls that fail")
    parser.addini("metal_engine", "Run kernels in ksearch's engine", type="bool", default=False)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    # Before any module of the user's is imported: it may ask for the GPU or build kernels then.
    if early_config.known_args_namespace.metal_engine or early_config.getini("metal_engine"):
        _enter(early_config)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    # Named by `-p` in an ini file or a conftest, the hook above was missed.
    asked = config.getoption("--metal-engine") or config.getini("metal_engine")
    if asked and _engine not in config.stash:
        _enter(config)


def _options(config):
    given = config.known_args_namespace
    return {
        "schedules": given.metal_schedules.split(","),
        "watch": not given.metal_unwatched,
        "keep": given.metal_keep,
    }


def _enter(config):
    import ksearch_metal

    try:
        config.stash[_engine] = _stack.enter_context(ksearch_metal.engine(**_options(config)))
    except ksearch_metal.EngineError as error:
        raise pytest.UsageError(f"--metal-engine: {error}") from None


def pytest_unconfigure():
    _stack.close()


def pytest_terminal_summary(terminalreporter, config):
    engine = config.stash.get(_engine, None)
    if engine is not None:
        terminalreporter.write_line(
            f"metal engine: {engine.calls} kernel call{'s' * (engine.calls != 1)}, "
            f"{engine.wall_seconds:.1f} s"
        )


@pytest.fixture
def metal_engine(request):
    """An engine for one test, with its own counts; the options are the command line's."""
    import ksearch_metal

    with ksearch_metal.engine(**_options(request.config)) as engine:
        yield engine
