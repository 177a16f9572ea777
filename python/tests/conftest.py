"""Every test runs in an engine of its own, `engine`."""

import pytest

import ksearch_metal


@pytest.fixture(autouse=True)
def engine():
    with ksearch_metal.engine() as engine:
        yield engine
