#!/usr/bin/env python3
"""Writes every kernel of dialect mlx (catalog, naive programs, experts) as the whole Metal file that
mx.fast.metal_kernel would generate, each instantiation of its task's workloads once; with
--compile, on a Mac, passes each to Apple's compiler.

    scripts/metal_sources.py OUT [--ksearch BINARY] [--compile] [--mlx FOLDER] [--only TEXT]

FOLDER is that of the Python package mlx: its include/ has the header that MLX puts first."""

import argparse
import collections
import concurrent.futures
import importlib.util
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
OURS = '#include "mlx_utils.h"'
MLX = '#include "mlx/backend/metal/kernels/utils.h"'
PATTERNS = ("catalog/*/mlx/*/program.json", "tasks/*/naive/mlx/program.json",
            "tasks/*/experts/mlx*/program.json")


def programs(only):
    found = sorted(path for pattern in PATTERNS for path in ROOT.glob(pattern))
    return [path for path in found if only in str(path.relative_to(ROOT))]


def write(ksearch, program, out):
    """The program's files; they include MLX's header in place of ours."""
    folder = out / "-".join(program.relative_to(ROOT).parts[1:-1])
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([ksearch, "check", program, "--metal-files", folder],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{program}: {done.stderr.strip()}")
    paths = [pathlib.Path(line) for line in done.stdout.splitlines()]
    for path in paths:
        text = path.read_text()
        if text.count(OURS) != 1:
            sys.exit(f"{path}: {OURS} is not in it once")
        path.write_text(text.replace(OURS, MLX))
    return paths


def mlx_folder(given):
    spec = None if given else importlib.util.find_spec("mlx")
    folder = pathlib.Path(given or (spec.submodule_search_locations[0] if spec else ""))
    if not (folder / "include" / "mlx" / "backend" / "metal" / "kernels" / "utils.h").exists():
        sys.exit("no MLX with its headers here: pip install mlx, or --mlx FOLDER")
    return folder


def compile_one(path, include):
    """What Apple's compiler says, nothing where it takes the file."""
    command = ["xcrun", "-sdk", "macosx", "metal", "-x", "metal", "-std=metal3.1", "-fno-fast-math",
               "-Wno-everything", "-I", include, "-c", path, "-o", path.with_suffix(".air")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--ksearch", default=ROOT / "build" / "release" / "bin" / "ksearch")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--mlx")
    parser.add_argument("--only", default="", help="programs with this in their path")
    options = parser.parse_args()
    include = mlx_folder(options.mlx) / "include" if options.compile else None

    files = collections.OrderedDict()
    for program in programs(options.only):
        files[program] = write(options.ksearch, program, options.out)
    if not files:
        sys.exit("no program has that in its path")
    total = sum(map(len, files.values()))
    print(f"{total} files of {len(files)} programs in {options.out}")
    if not options.compile:
        return
    everything = [path for paths in files.values() for path in paths]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = list(pool.map(lambda path: compile_one(path, include), everything))
    refused = [(path, text) for path, text in zip(everything, said) if text]
    for path, text in refused:
        print(f"REFUSED {path}\n{text}")
    print(f"{total - len(refused)} compile, {len(refused)} do not")
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main()
