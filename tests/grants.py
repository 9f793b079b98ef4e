"""Values row by row: each grant of some fragments with what it accepts and what it must refuse.

A case names a row (`module::qualname`) and holds (accepted values, refused values); a refused one is a value, whose class
of refusal is `recipe`, or (value, class).  Streams are written byte by byte (assemble.py), at protocols 0, 2, 3 and 4.  A row
that no case names is a failure, so that no grant is added without its own.
"""
import os
import re
import tempfile

from assemble import Node, assemble
from run_corpus import run

PROTOCOLS = (0, 2, 3, 4)


def lowest(value):
    """The first protocol that can write it as asked for."""
    if isinstance(value, Node):
        own = 4 if value.kw is not None else 2 if value.verb == "new" and value.args else 0
        parts = [*value.args, *(value.state or ()), *(value.items or ()), *(x for kv in value.pairs or () for x in kv)]
        return max([own, *map(lowest, parts if value.verb != "raw" else ())])
    if isinstance(value, dict):
        return max([0, *map(lowest, value.keys()), *map(lowest, value.values())])
    if isinstance(value, (tuple, list, set)):
        return max([0, *map(lowest, value)])
    return 0


def modules_in(text):
    """(module, text between its braces) of each `module` block."""
    for head in re.finditer(r"^module ([\w.]+)(?: import)?\s*\{", text, re.M):
        end, depth = head.end(), 1
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield head.group(1), text[head.end():end - 1]


def granted_names(fragments):
    """`module::qualname` of every row of the fragments, read from their text: NAME.policy, without a folder std/NAME.policy."""
    names = set()
    for fragment in fragments:
        path = fragment if "/" in fragment else "std/" + fragment
        with open("policies/%s.policy" % path, encoding="utf-8") as file:
            text = re.sub(r'"(\\.|[^"\\\n])*"', '""', re.sub(r"#[^\n]*", "", file.read()))
        for module, body in modules_in(text):
            for many, one in re.findall(r"\b(?:class|func|const|enum|dataclass)\s+(?:\{([^}]*)\}|([\w.]+(?:,\s*[\w.]+)*))", body):
                names.update(module + "::" + part.strip() for part in (many or one).split(","))
    return names


def describe(value):
    if isinstance(value, Node):
        after = "".join(" %s %r" % (step, getattr(value, step)) for step in ("kw", "state", "items", "pairs")
                        if getattr(value, step) is not None)
        return "%s %s%s%s" % (value.verb, value.name, tuple(map(describe, value.args)), after)
    return repr(value)[:80]


def cases_of_rows(rows):
    """(label, value, expected outcome, protocols) of each case."""
    for name, (accepted, refused) in rows.items():
        for value in accepted:
            yield name, value, "accept", PROTOCOLS
        for item in refused:
            value, cls = item if isinstance(item, tuple) else (item, "recipe")
            yield name, value, cls, PROTOCOLS


def check_rows(tally, rows, fragments):
    for name in sorted(granted_names(fragments) ^ set(rows)):
        tally.check(False, "no case, or no row, for %s" % name)
    for name, (accepted, refused) in rows.items():
        tally.check(accepted and refused, "%s: nothing accepted, or nothing refused" % name)


def check_cases(tally, build, policy, cases):
    with tempfile.TemporaryDirectory() as folder:
        wanted = {}
        for label, value, expected, protocols in cases:
            for protocol in protocols:
                if protocol < lowest(value):
                    continue
                path = os.path.join(folder, "%d.pkl" % len(wanted))
                with open(path, "wb") as file:
                    file.write(assemble(value, protocol))
                wanted[path] = (expected, "%s, protocol %d: %s" % (label, protocol, describe(value)))
        verdicts, _ = run([build + "/policyc", "try", policy, "--print", "none"], list(wanted))
        for path, (expected, text) in wanted.items():
            got = verdicts[path]
            tally.check((got[1] if got[0] == "refused" else got[0]) == expected,
                        "%s: expected %s, got %s" % (text[:300], expected, got))
