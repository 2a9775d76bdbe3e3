#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the source tree to ARCHITECTURE.md: includes only downward in the folder order of CMakeLists.txt, the diagram names
every folder, every source file carries its licence line."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
order = re.findall(r"^ako_folder\((\w+)", (root / "CMakeLists.txt").read_text(), re.M)
rank = {folder: i for i, folder in enumerate(order)}
problems = []

sources = sorted(p for p in (root / "src").rglob("*") if p.suffix in (".h", ".cpp"))
assert len(sources) > 20, "the source tree was not found"
for path in sources:
    folder = path.relative_to(root / "src").parts[0]
    if folder not in rank:
        problems.append(f"{path}: folder {folder} is not declared in CMakeLists.txt")
        continue
    for line, text in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'#include "(\w+)/', text)
        if match and match[1] in rank and rank[match[1]] > rank[folder]:
            problems.append(f"{path}:{line}: {folder} includes {match[1]}, which stands above it")

for pattern in ("src/**/*.h", "src/**/*.cpp", "guest/**/*.cpp", "guest/**/*.h", "tests/**/*.cpp", "bench/**/*.cpp"):
    for path in root.glob(pattern):
        head = path.read_text(errors="replace")[:400]
        if "SPDX-License-Identifier: Apache-2.0" not in head:
            problems.append(f"{path}: no SPDX line at its head")

diagram = (root / "docs/architecture.mmd").read_text()
for folder in order:
    if (root / "src" / folder).is_dir() and any((root / "src" / folder).rglob("*.*")):
        if not re.search(rf"\b{folder}\b", diagram):
            problems.append(f"docs/architecture.mmd does not show src/{folder}")
for folder in re.findall(r"^\s*(\w+)\[", diagram, re.M):
    if folder in rank and not (root / "src" / folder).is_dir():
        problems.append(f"docs/architecture.mmd shows {folder}, which does not exist")
for edge in re.findall(r"^\s*(\w+)\s*-->\s*(\w+)\s*$", diagram, re.M):
    if all(e in rank for e in edge) and rank[edge[1]] > rank[edge[0]]:
        problems.append(f"docs/architecture.mmd: {edge[0]} --> {edge[1]} points upward")

print("\n".join(problems) or f"{len(sources)} files in {len(order)} folders keep the order")
sys.exit(bool(problems))
