# SPDX-License-Identifier: Apache-2.0
"""Runs the client that docs/protocol.md prints, as printed: protocol_client_test.py SOURCE_DIR AKO."""
import pathlib
import re
import subprocess
import sys
import tempfile

source, ako = pathlib.Path(sys.argv[1]), sys.argv[2]
client = re.search(r"```python\n(.*?)```", (source / "docs/protocol.md").read_text(), re.S).group(1)
plan = "launches:\n  - {kernel: softmax, args: [x, y, T, D]}\n"
guests = source / "tests/judge/guests"

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "client.py"
    path.write_text(client)
    for kernel, outcome in [("honest/plain.cpp", "correct"), ("zeros.cpp", "wrong")]:
        done = subprocess.run([sys.executable, path, ako, source / "problems/softmax.yaml", guests / kernel, plan],
                              capture_output=True, text=True, timeout=120)
        last = done.stdout.strip().splitlines()[-1:]
        assert done.returncode == 0 and last == [outcome], (kernel, done)
        assert "... check T=8,D=96" in done.stdout.splitlines(), done.stdout
