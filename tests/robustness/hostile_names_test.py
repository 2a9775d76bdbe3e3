#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names, paths, sources and an agent's words with quotes, spaces, newlines, bytes that are not UTF-8, `..`, and what would
end a script or a comment: harmless everywhere. hostile_names_test.py AKO"""
import html.parser
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from program import PROBLEM, Workplace, opened

ATTACK = '</script><script>document.title="taken"</script>--><img src=x onerror=\'document.title="taken"\'>"\'`${1}\\'
NAMES = [
    b'with space', b"quote's \"double\" `tick`", b'$(touch taken) ; touch taken', b'new\nline', b'tab\there', b'-rf',
    b'bytes \xff\xfe\xc3(', '‮right to left – ünïcode'.encode(), b'per%cent ?and=#hash', b'<script><!--', b'back\\slash',
    b'{brace} {0} %s %n',
]
KERNEL = 'extern "C" void twice(const float* x, float* y, long long N) {\n  for (long long i = 0; i < N; ++i) y[i] = 2 * x[i];\n}\n'


class Elements(html.parser.HTMLParser):
    """What a browser would make of the page's outermost structure."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, sorted(name for name, _ in attributes if name.startswith('on')), dict(attributes).get('src')))


def shape_of_page(path):
    """Elements that run code or fetch something."""
    return [one for one in Elements(path.read_text()).found if one[0] in ('script', 'img', 'iframe', 'object', 'link') or one[1]]


def title_in_browser(page):
    browser = shutil.which('chromium')
    if not browser:
        return None
    with tempfile.TemporaryDirectory() as profile:
        dom = subprocess.run([browser, '--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-sync',
                              f'--user-data-dir={profile}', '--virtual-time-budget=3000', '--dump-dom', page.as_uri()],
                             capture_output=True, timeout=60).stdout.decode(errors='replace')
    return dom[dom.find('<title>') + 7:dom.find('</title>')]


def printable(text, where):
    for c in text:
        assert c in '\n\t' or (ord(c) >= 32 and ord(c) not in (127, 0x202e, 0x2028)), (where, repr(c), text)


def folders_of_any_name(ako):
    """Checks a kernel and reads a campaign in folders of every name, with files of every name."""
    model = Workplace(ako)
    code, _, errors = model.optimize('w', 1)
    assert code == 0, errors
    campaign = model.campaigns()[0]
    for name in NAMES:
        with tempfile.TemporaryDirectory() as root:
            folder = pathlib.Path(os.fsdecode(os.path.join(os.fsencode(root), name)))
            folder.mkdir()
            place = Workplace(ako, folder)
            shutil.copytree(campaign, folder / 'campaign')
            source = pathlib.Path(os.fsdecode(os.fsencode(folder) + b'/k' + name.replace(b'/', b'') + b'.cpp'))
            source.write_text(KERNEL)
            code, output, errors = place.run('show', folder / 'campaign')
            assert code == 0, (name, errors)
            printable(output, name)
            code, output, errors = place.run('report', folder / 'campaign')
            assert code == 0, (name, errors)
            printable(output + errors, name)
            assert shape_of_page(folder / 'campaign' / 'report.html') == shape_of_page(campaign / 'report.html'), name
            for problem in (folder / 'twice.yaml', '../' + folder.name + '/twice.yaml'):
                code, output, errors = place.run('explain', problem)
                assert code == 0, (name, errors)
                printable(output, name)
            code, output, errors = place.run('check', source, '--problem', 'twice.yaml', '--json')
            # A name that no candidate may have is refused as such; everything else is just a name.
            assert code == 0 or (code == 3 and 'error' in output + errors), (name, code, output, errors)
            json.loads(output)
            printable(errors, name)
            assert not (folder / 'taken').exists() and not pathlib.Path('taken').exists(), name
            code, _, errors = place.run('explain', folder / 'missing.yaml')
            assert code == 3, (name, errors)
            printable(errors, name)


def words_of_any_kind(ako):
    """The problem's words and an agent's, as they come out in reports."""
    place = Workplace(ako)
    (place.folder / 'twice.yaml').write_text(
        PROBLEM.replace('summary: Twice each element.', 'summary: ' + json.dumps(ATTACK)).replace('{N: elements}', '{N: ' + json.dumps(ATTACK) + '}'))
    code, _, errors = place.optimize('w', 2)
    assert code == 0, errors
    campaign = place.campaigns()[0]
    page = campaign / 'report.html'
    usual = [tag for tag, *_ in shape_of_page(page)]
    with opened(campaign) as store:
        for number, record in store.execute('SELECT number, record FROM rounds').fetchall():
            changed = json.loads(record)
            for field in ('hypothesis', 'change', 'reason'):
                if field in changed:
                    changed[field] = ATTACK + '\x1b[31m\u202e | * _ # \n## heading \u2028 ' + changed[field]
            store.execute('UPDATE rounds SET record = ? WHERE number = ?', (json.dumps(changed), number))
    code, output, errors = place.run('report', campaign)
    assert code == 0, errors
    for command in (['show', campaign], ['show', campaign, '--round', '1'], ['list', '--workspace', 'w']):
        code, output, errors = place.run(*command)
        assert code == 0, (command, errors)
        printable(output, command)
    assert [tag for tag, *_ in shape_of_page(page)] == usual, shape_of_page(page)
    assert not any(handlers for _, handlers, _ in Elements(page.read_text()).found)
    title = title_in_browser(page)
    assert title is None or (title and 'taken' not in title), title
    text = (campaign / 'report.md').read_text()
    printable(text, 'report.md')
    assert '\n## heading' not in text
    print('opened in a browser' if title is not None else 'no browser here: the page was read by a parser only')


def sources_of_any_kind(ako):
    """Sources that are no text, or speak to whoever reads them."""
    place = Workplace(ako)
    for name, source in {'words': KERNEL + '// ' + ATTACK, 'bytes': KERNEL.encode() + b'// \xff\xfe\x00\x80',
                         'null': b'\0' * 100, 'empty': b'', 'wrong': ('#error ' + ATTACK + '\x1b[2J').encode()}.items():
        path = place.folder / 'kernel.cpp'
        path.write_bytes(source.encode() if isinstance(source, str) else source)
        code, output, errors = place.run('check', path, '--problem', 'twice.yaml')
        assert code in (0, 1, 3), (name, code, output, errors)
        assert name not in ('words',) or code == 0, (name, output, errors)
        printable(output + errors, name)
    # Files outside the candidate's folder are not the candidate's.
    folder = place.folder / 'candidate'
    folder.mkdir()
    (place.folder / 'secret.cpp').write_text(KERNEL)
    for path in ('../secret.cpp', '/etc/passwd', 'a/../../secret.cpp', '..'):
        (folder / 'candidate.yaml').write_text(f'language: CPP\nsources: [{json.dumps(path)}]\n')
        code, output, errors = place.run('check', folder, '--problem', 'twice.yaml')
        assert code == 3, (path, code, output, errors)


def main():
    for test in (words_of_any_kind, sources_of_any_kind, folders_of_any_name):
        test(sys.argv[1])
        print(f'{test.__name__}: fine', flush=True)


if __name__ == '__main__':
    main()
