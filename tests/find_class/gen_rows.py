#!/usr/bin/python3
"""Writes a synthetic policy with N rows: gen_rows.py N [policy|names]

Names look like those of real packages: dotted modules of one to five parts that share prefixes, CamelCase classes, some
functions in snake_case, some nested classes, lengths as in the standard library and the scientific packages (median of
module and name together about 45 bytes).  The same N gives the same text.
"""
import random
import sys

WORDS = """core utils base model data io net http client server parser lexer codec codecs array arrays matrix sparse linear
tree forest ensemble metric metrics cluster image video audio text token tokenizer vocab graph graphs node edge layer layers
optim optimizer loss train trainer eval session state store cache queue worker task job event stream buffer frame frames
index indexes range series block blocks period offset offsets time date zone locale format formats json xml yaml html css
sql query table column schema record field fields type types enum flags option options config settings plugin plugins hook
signal signals slot filter filters pipe pipeline transform transformer feature selection split sample sampler random
distribution stats test testing helper compat legacy internal private external backend backends engine kernel device memory
tensor module modules functional sym symbolic poly ring field group algebra geometry plot figure axis legend color style"""
WORDS = WORDS.split()
PACKAGES = ["acme", "globex", "initech", "umbra", "numlab", "pandora", "torchy", "skim", "symbolica", "webkit", "dbkit",
            "asynckit", "cloudkit", "botany", "astro"]


def camel(rng, n):
    return "".join(rng.choice(WORDS).capitalize() for _ in range(n))


def make_module(rng):
    parts = [rng.choice(PACKAGES)]
    for _ in range(rng.choices([0, 1, 2, 3, 4], [1, 4, 6, 4, 2])[0]):
        parts.append(("_" if rng.random() < 0.15 else "") + rng.choice(WORDS))
    return ".".join(parts)


def make_name(rng):
    roll = rng.random()
    if roll < 0.80:
        return "class", camel(rng, rng.choices([1, 2, 3, 4], [2, 6, 4, 1])[0])
    if roll < 0.88:
        return "class", camel(rng, 1) + "." + camel(rng, 2)
    return "func", "_".join(["_rebuild"] + [rng.choice(WORDS) for _ in range(rng.randint(1, 3))])


def make_rows(count):
    rng = random.Random(20240229)
    modules, seen, rows = [], set(), []  # seen: as C symbols, which must differ too
    while len(rows) < count:
        if not modules or rng.random() < 0.28:
            modules.append(make_module(rng))
        module = rng.choice(modules[-40:])
        kind, name = make_name(rng)
        symbol = (module + "." + name).replace(".", "_").upper()
        if symbol not in seen:
            seen.add(symbol)
            rows.append((module, name, kind))
    rows.sort()
    return rows


def write_policy(rows, out):
    out.write("# Synthetic rows, for measurements.\npolicy synthetic.rows_%d 1;\nroot any;\n" % len(rows))
    before = None
    for module, name, kind in rows:
        if module != before:
            out.write("%smodule %s {\n" % ("}\n" if before else "", module))
            before = module
        if kind == "class":
            out.write("    class %s new() state { value: int, text?: str };\n" % name)
        else:
            out.write("    func %s(count: int[0..100], text?: str[..64]) -> builtins::object because \"synthetic\";\n" % name)
    if before:
        out.write("}\n")


def main():
    rows = make_rows(int(sys.argv[1]))
    if sys.argv[2:] == ["names"]:
        for module, name, _ in rows:
            print("%s\t%s" % (module, name))
    else:
        write_policy(rows, sys.stdout)


main()
