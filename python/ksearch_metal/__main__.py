"""python -m ksearch_metal SCRIPT [ARGUMENT...]: runs a Python program in the engine."""

import runpy
import sys

from . import engine


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    del sys.argv[0]
    with engine():
        runpy.run_path(sys.argv[0], run_name="__main__")


main()
