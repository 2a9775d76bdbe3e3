# SPDX-License-Identifier: Apache-2.0
"""A small problem, and the program run on it."""
import contextlib
import json
import pathlib
import sqlite3
import subprocess
import tempfile

PROBLEM = """problem: twice
summary: Twice each element.
dims: {N: elements}
tensors:
  x: {type: f32, shape: [N]}
  y: {type: f32, shape: [N]}
math: |
  y[i] = 2 * x[i]
shapes:
  - {N: 4096, core: true, representative: true}
tolerance: {snr_db: 120}
"""


class Workplace:
    """A folder of its own with the problem in it."""

    def __init__(self, ako, folder=None):
        self.ako = str(pathlib.Path(ako).resolve())
        self.temporary = None if folder else tempfile.TemporaryDirectory(prefix='ako-robustness-')
        self.folder = pathlib.Path(folder or self.temporary.name)
        (self.folder / 'twice.yaml').write_text(PROBLEM)

    def start(self, *arguments, prefix=(), **options):
        return subprocess.Popen([*prefix, self.ako, *map(str, arguments)], cwd=self.folder, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors='replace', **options)

    def run(self, *arguments, prefix=(), timeout=120, **options):
        process = self.start(*arguments, prefix=prefix, **options)
        output, errors = process.communicate(timeout=timeout)
        return process.returncode, output, errors

    def optimize(self, workspace='w', rounds=2, **options):
        return self.run(*self.optimize_arguments(workspace, rounds), **options)

    @staticmethod
    def optimize_arguments(workspace='w', rounds=2):
        return ['optimize', 'twice.yaml', '--rounds', rounds, '--budget', '5s', '--workspace', workspace, '--yes', '--json']

    def campaigns(self, workspace='w'):
        return sorted(path.parent for path in (self.folder / workspace).rglob('campaign.db'))


@contextlib.contextmanager
def opened(campaign, mode='rw'):
    """The store, committed and closed afterwards."""
    with contextlib.closing(sqlite3.connect((campaign.resolve() / 'campaign.db').as_uri() + f'?mode={mode}', uri=True)) as store, store:
        yield store


def rounds_of(campaign):
    """The closed rounds, and whether one is open, from the store itself; its structure is checked on the way."""
    with opened(campaign, 'ro') as store:
        state = store.execute('PRAGMA integrity_check').fetchall()
        assert state == [('ok',)], state
        if not store.execute("SELECT 1 FROM sqlite_master WHERE name = 'rounds'").fetchall():
            return []
        rounds = store.execute('SELECT number, parent, decision, record FROM rounds ORDER BY number').fetchall()
    for number, _, decision, record in rounds:
        kept = json.loads(record)
        assert decision, f'round {number} has no decision'
        assert kept['number'] == number, record
        assert kept['ended'], f'round {number} is half closed'
    assert [row[0] for row in rounds] == list(range(1, len(rounds) + 1)), rounds
    return rounds
