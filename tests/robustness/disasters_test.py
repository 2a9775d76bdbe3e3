#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Full disks, folders that cannot be written, damaged and newer stores, two owners, a clock set back: a clear error,
nothing lost. disasters_test.py AKO. Exit status 77: all that could be tried went well, but this system lets nobody mount.
"""
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

from program import Workplace, opened, rounds_of


def half_done(ako, rounds=3):
    """A campaign that was killed after its first round."""
    place = Workplace(ako)
    process = place.start(*place.optimize_arguments('w', rounds))
    while process.poll() is None:
        folders = place.campaigns()
        try:
            if folders and rounds_of(folders[0]):
                break
        except sqlite3.Error:
            pass  # it is just being made
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return place, place.campaigns()[0]


def clear_error(result, statuses, *words):
    code, output, errors = result
    assert code in statuses, result
    assert 'error:' in errors or '"error"' in output, result
    for word in words:
        assert word in errors + output, (word, result)
    assert 'terminate called' not in errors, result


def resumes_to_the_end(place, folder):
    before = rounds_of(folder)
    code, output, errors = place.run('resume', folder, '--json')
    assert code == 0 and '"DONE"' in output, (code, output, errors)
    after = rounds_of(folder)
    assert after[:len(before)] == before and len(after) >= 1


def damaged_stores(ako):
    place, folder = half_done(ako)
    store = folder / 'campaign.db'
    # What the killed process left in the log belongs to the store: put into the file, so that there is one to damage.
    with opened(folder) as database:
        database.execute('PRAGMA wal_checkpoint(TRUNCATE)')
    whole = store.read_bytes()
    for name, content in {'middle': whole[:4096] + b'\xa5' * 6000 + whole[10096:], 'header': b'\0' * 100 + whole[100:],
                          'cut': whole[:len(whole) // 2], 'text': b'this is no database\n' * 300, 'short': whole[:60]}.items():
        store.write_bytes(content)
        for command in (['resume', folder], ['show', folder], ['report', folder]):
            result = place.run(*command)
            clear_error(result, (3,), 'campaign.db')
        assert store.read_bytes() == content, f'{name}: a damaged store was changed'
        code, _, errors = place.run('list', '--workspace', 'w')
        assert code in (0, 3) and 'terminate' not in errors, errors
    store.write_bytes(b'')
    for command in (['show', folder], ['report', folder], ['resume', folder]):
        code, _, errors = place.run(*command)
        assert code in (0, 3), (command, errors)
    for log in folder.glob('campaign.db-*'):  # of the empty store, not of this one
        log.unlink()
    store.write_bytes(whole)
    resumes_to_the_end(place, folder)


def damaged_records(ako):
    """The store is whole, but a record in it is not what it should be."""
    place, folder = half_done(ako)
    with opened(folder) as database:
        good = database.execute('SELECT record FROM rounds WHERE number = 1').fetchone()[0]
    for bad in ('', '{', 'null', '[]', '{}', good[:len(good) // 2], good.replace('"number":1', '"number":"one"'),
                good.replace('"outcome"', '"outcom"'), '\udcff'):
        with opened(folder) as database:
            database.execute('UPDATE rounds SET record = CAST(? AS TEXT) WHERE number = 1',
                             (bad.encode('utf-8', 'surrogateescape'),))
        for command in (['show', folder], ['report', folder], ['resume', folder]):
            code, output, errors = place.run(*command)
            assert code in (0, 3), (bad[:40], command, code, errors)
            assert code == 0 or 'error:' in errors, errors
            if code == 0 and command[0] == 'resume':
                break


def newer_store(ako):
    place, folder = half_done(ako)
    with opened(folder) as database:
        old = database.execute("SELECT version FROM ako_schema WHERE name = 'campaign'").fetchone()[0]
        database.execute("UPDATE ako_schema SET version = 999, written_by = '99.1' WHERE name = 'campaign'")
    for command in (['resume', folder], ['show', folder], ['report', folder]):
        clear_error(place.run(*command), (3,), '99.1')
    with opened(folder) as database:
        database.execute("UPDATE ako_schema SET version = ?, written_by = 'x' WHERE name = 'campaign'", (old,))
    resumes_to_the_end(place, folder)


def two_owners(ako):
    place, folder = half_done(ako)
    first = place.start('resume', folder, '--json')
    try:
        conflict = None
        while first.poll() is None and conflict is None:
            result = place.run('resume', folder)
            if result[0] != 0:
                conflict = result
        assert conflict, 'the second owner was let in'
        clear_error(conflict, (3,), 'in use by')
    finally:
        output, errors = first.communicate(timeout=120)
    assert first.returncode == 0, (output, errors)
    # Two campaigns of one problem in one workspace, at the same time: a folder each.
    both = [place.start(*place.optimize_arguments('shared', 1)) for _ in range(2)]
    for process in both:
        output, errors = process.communicate(timeout=120)
        assert process.returncode == 0, (process.returncode, output, errors)
    assert len(place.campaigns('shared')) == 2, place.campaigns('shared')
    for campaign in place.campaigns('shared'):
        assert len(rounds_of(campaign)) == 1


CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static const long back = 400L * 86400;
int clock_gettime(clockid_t clock, struct timespec* at) {
  int result = (int)syscall(SYS_clock_gettime, clock, at);
  if (clock == CLOCK_REALTIME) at->tv_sec -= back;
  return result;
}
int gettimeofday(struct timeval* at, void* zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  at->tv_sec = now.tv_sec, at->tv_usec = now.tv_nsec / 1000;
  return 0;
}
time_t time(time_t* at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at) *at = now.tv_sec;
  return now.tv_sec;
}
"""


def clock_set_back(ako):
    place, folder = half_done(ako)
    (place.folder / 'clock.c').write_text(CLOCK)
    subprocess.run(['cc', '-shared', '-fPIC', '-O1', 'clock.c', '-o', 'clock.so'], cwd=place.folder, check=True)
    before = rounds_of(folder)
    environment = dict(os.environ, LD_PRELOAD=str(place.folder / 'clock.so'))
    year = subprocess.run(['date', '-u', '+%Y'], env=environment, capture_output=True, text=True).stdout
    assert int(year) < int(time.strftime('%Y', time.gmtime())), 'the clock was not set back'
    code, output, errors = place.run('resume', folder, '--json', env=environment)
    assert code == 0 and '"DONE"' in output, (code, output, errors)
    after = rounds_of(folder)
    assert after[:len(before)] == before and len(after) > len(before)
    assert place.run('report', folder)[0] == 0


def can_mount():
    return subprocess.run(['unshare', '-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt'], capture_output=True).returncode == 0


def in_a_mount(place, options, script):
    """The folder `disk` is a file system of its own while the script runs; afterwards `saved` is what was on it."""
    (place.folder / 'disk').mkdir(exist_ok=True)
    whole = f'mount -t tmpfs -o {options} none disk && {{ {script}; status=$?; }}; cp -r disk saved; exit $status'
    return ['unshare', '-rm', 'sh', '-c', whole, 'sh']


def full_disk(ako):
    for size in ('64k', '200k', '400k', '700k'):
        place = Workplace(ako)
        arguments = ' '.join(map(str, place.optimize_arguments('disk', 4)))
        prefix = in_a_mount(place, f'size={size}', f'"$0" {arguments}'.replace('"$0"', '"$1"'))
        code, output, errors = place.run(prefix=prefix)
        shutil.rmtree(place.folder / 'disk')
        (place.folder / 'saved').rename(place.folder / 'disk')
        if code == 0:  # it fitted
            continue
        clear_error((code, output, errors), (3, 4))
        assert any(word in errors + output for word in ('space', 'full')), (size, errors, output)
        for folder in place.campaigns('disk'):
            if rounds_of(folder):
                resumes_to_the_end(place, folder)
            else:  # the disk may have been full before there was a campaign: said as that, or gone on with
                result = place.run('resume', folder, '--json')
                assert result[0] == 0 or clear_error(result, (3,), 'nothing was measured yet') is None


def read_only_folder(ako):
    place = Workplace(ako)
    arguments = ' '.join(map(str, place.optimize_arguments('disk', 1)))
    clear_error(place.run(prefix=in_a_mount(place, 'ro', f'"$1" {arguments}')), (3, 4), 'ead-only')
    # An ended campaign on a medium that cannot be written can be read.
    code, _, errors = place.optimize('w', 1)
    assert code == 0, errors
    folder = place.campaigns()[0]
    script = f'cp -r {folder} disk/c && mount -o remount,ro disk && "$1" show disk/c && "$1" list --workspace disk'
    shutil.rmtree(place.folder / 'saved', ignore_errors=True)
    code, output, errors = place.run(prefix=in_a_mount(place, 'size=8m', script))
    assert code == 0, (output, errors)
    shutil.rmtree(place.folder / 'saved')
    script = f'cp -r {folder} disk/c && mount -o remount,ro disk && "$1" resume disk/c'
    clear_error(place.run(prefix=in_a_mount(place, 'size=8m', script)), (3, 4), 'ead-only')


def main():
    ako, chosen = sys.argv[1], sys.argv[2:]
    mounting = [full_disk, read_only_folder]
    everywhere = [damaged_stores, damaged_records, newer_store, two_owners, clock_set_back]
    able = can_mount()
    failed = 0
    for test in everywhere + (mounting if able else []):
        if chosen and test.__name__ not in chosen:
            continue
        try:
            test(ako)
            print(f'{test.__name__}: fine', flush=True)
        except AssertionError as error:
            failed += 1
            print(f'{test.__name__}: FAILED: {error}', flush=True)
    if not able:
        print('not tried, for want of mounts: ' + ', '.join(test.__name__ for test in mounting))
    return 1 if failed else 0 if able else 77


if __name__ == '__main__':
    sys.exit(main())
