#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two files that define a class of the same qualified name are undefined behaviour that no compiler or linker tells.

Follows braces and namespaces of src/ and guest/ (comments and literals out of the way). Names in unnamed namespaces and in
functions are their file's own affair.
"""
import pathlib
import re
import sys

LITERALS = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:\\\n|[^\n])*',
    re.S | re.M)
OPENER = re.compile(
    r'(?:\bnamespace\b(?P<space>[\w:\s]*)|\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+(?:alignas\s*\([^)]*\)\s*)?'
    r'(?:\[\[[^\]]*\]\]\s*)?(?P<type>[A-Za-z_][\w:]*)(?P<special>\s*<[^;{}]*>)?\s*(?:final\s*)?(?::[^:;{}][^;{}]*)?)\s*$')


def definitions(text):
    """(qualified name, line) of every class, struct, union and enumeration with a linkage that others share."""
    code = LITERALS.sub(lambda found: '\n' * found.group().count('\n') or ' ', text)
    scopes = []  # of each open brace: its name; None where names are hidden
    start = 0
    for found in re.finditer(r'[{};]', code):
        head = code[start:found.start()]
        start = found.end()
        if found.group() == '}' and scopes:
            scopes.pop()
        if found.group() != '{':
            continue
        opener = OPENER.search(head)
        if opener and opener.group('space') is not None:
            scopes.append(opener.group('space').strip() or None)
        elif opener and opener.group('type') and '(' not in head[opener.start():]:
            name = opener.group('type') + re.sub(r'\s+', '', opener.group('special') or '')
            if None not in scopes:
                yield '::'.join(scopes + [name]), code.count('\n', 0, found.start()) + 1
            scopes.append(name)
        else:
            scopes.append(None if not re.search(r'extern\s*""?\s*$|extern\s*$', head) else '')


def clashes(files):
    seen = {}
    for path, text in files:
        for name, line in definitions(text):
            seen.setdefault(name, {})[path] = line
    return {name: places for name, places in seen.items() if len(places) > 1}


def check_itself():
    a = 'namespace ako { struct Part { int x; }; namespace { struct Own {}; } void f() { struct Local {}; } }'
    b = 'namespace ako {\n// struct Gone {};\nclass Part : public Base { };\nnamespace { struct Own {}; } void g() { struct Local {}; } }'
    assert set(clashes([('a', a), ('b', b)])) == {'ako::Part'}, clashes([('a', a), ('b', b)])
    c = 'struct ako::One::State { int b; };'
    d = 'namespace ako { struct One::State {}; template <class T> struct One::State<int> {}; }'
    assert set(clashes([('c', c), ('d', d)])) == {'ako::One::State'}, clashes([('c', c), ('d', d)])


def main():
    check_itself()
    root = pathlib.Path(sys.argv[1])
    paths = sorted(path for path in (root / 'src').rglob('*') if path.suffix in ('.cpp', '.h'))
    assert len(paths) > 100, 'the sources were not found'
    found = clashes([(str(path.relative_to(root)), path.read_text()) for path in paths])
    for name, places in found.items():
        print(f'{name} is defined in ' + ' and '.join(f'{path}:{line}' for path, line in places.items()))
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
