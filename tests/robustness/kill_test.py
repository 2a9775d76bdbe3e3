#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills `ako optimize` and `ako resume` at random moments. After each death the store is whole, every round that was
closed is still there as it was, and the campaign goes on from there; in the end it ends.

kill_test.py AKO [MOMENTS [SEED]]
"""
import random
import signal
import subprocess
import sys
import time

from program import Workplace, rounds_of

ROUNDS = 3


def judges_of(process):
    """Processes that the killed one started and that are still there."""
    try:
        with open(f'/proc/{process.pid}/task/{process.pid}/children') as children:
            return [int(pid) for pid in children.read().split()]
    except OSError:  # it ended just now
        return []


def gone(pid, wait_s=5):
    end = time.monotonic() + wait_s
    while time.monotonic() < end:
        try:
            with open(f'/proc/{pid}/stat') as stat:
                if stat.read().rsplit(')', 1)[1].split()[0] == 'Z':
                    return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


def kill_at(place, arguments, delay_s):
    """True when it had ended before."""
    process = place.start(*arguments)
    try:
        process.communicate(timeout=delay_s)
        return True
    except subprocess.TimeoutExpired:
        children = judges_of(process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        for child in children:
            assert gone(child), f'process {child} outlives the campaign that started it'
        return False


class Campaign:
    """One campaign and its lives."""

    def __init__(self, ako):
        self.place = Workplace(ako)
        self.seen = []

    def arguments(self):
        folders = self.place.campaigns()
        assert len(folders) <= 1, folders
        return ['resume', folders[0], '--json'] if folders else Workplace.optimize_arguments('w', ROUNDS)

    def look(self):
        for folder in self.place.campaigns():
            rounds = rounds_of(folder)
            assert rounds[:len(self.seen)] == self.seen, 'a closed round was lost or changed'
            self.seen = rounds
            code, _, errors = self.place.run('show', folder)
            assert code == 0 or not rounds, errors

    def live(self, delay_s):
        ended = kill_at(self.place, self.arguments(), delay_s)
        self.look()
        return ended

    def finish(self):
        code, output, errors = self.place.run(*self.arguments(), timeout=120)
        assert code == 0, errors
        self.look()
        assert '"DONE"' in output, output
        assert 1 <= len(self.seen) <= ROUNDS, self.seen


def main():
    ako = sys.argv[1]
    moments = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(1 << 32)
    print(f'seed {seed}')
    draw = random.Random(seed)
    kills = campaigns = 0
    while kills < moments:
        campaign = Campaign(ako)
        campaigns += 1
        # The first life up to the whole length; later ones short enough that several fit in.
        for life in range(min(draw.randrange(1, 9), moments - kills)):
            if campaign.live(draw.uniform(0, 3 if life == 0 else 2)):
                break
            kills += 1
        campaign.finish()
    print(f'{kills} kills in {campaigns} campaigns')


if __name__ == '__main__':
    main()
