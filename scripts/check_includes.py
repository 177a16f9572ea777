#!/usr/bin/env python3
"""Checks that folders of src/ include only those before them (the list in src/CMakeLists.txt), that a
source file includes its own header first, and that every header says #pragma once."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
src = root / "src"
listed = re.search(r"foreach\(folder ([^)]*)\)", (src / "CMakeLists.txt").read_text())
order = listed.group(1).split()
faults = []
files = 0

for path in sorted([*src.rglob("*.h"), *src.rglob("*.cpp")]):
    files += 1
    name = path.relative_to(root)
    folder = path.relative_to(src).parts[0]
    text = path.read_text()
    if folder not in order:
        faults.append(f"{name}: folder {folder} is not in the list of src/CMakeLists.txt")
        continue
    includes = [(text.count("\n", 0, m.start()) + 1, m.group(1))
                for m in re.finditer(r'^#include "([^"]+)"', text, re.M)]
    for line, include in includes:
        # A file's text as a constant, made by CMake; the swizzles, made when a kernel is compiled.
        if include.endswith("_text.h") or include == "ks_swizzle.h":
            continue
        if not (src / include).exists():
            # Kernels and task files see their harness header beside them; everything else is by path.
            if not (path.parent / include).exists():
                faults.append(f"{name}:{line}: {include} is no path below src/")
            continue
        to = include.split("/")[0]
        if order.index(to) > order.index(folder):
            faults.append(f"{name}:{line}: {folder} may not include {to} (it comes later)")
    own = str(path.relative_to(src).with_suffix(".h"))
    if path.suffix == ".cpp" and (src / own).exists() and includes and includes[0][1] != own:
        faults.append(f"{name}:{includes[0][0]}: its own header {own} comes first")
    if path.suffix == ".h" and "#pragma once" not in text:
        faults.append(f"{name}: #pragma once is missing")

print("\n".join(faults) if faults else f"include order: {files} files, fine")
sys.exit(1 if faults else 0)
