"""Random pairs of small policies that differ little, and random values near what they take.

A type is a tuple: a word, and what it holds.  `text_of` writes it as a policy does, `value_of` makes a value of it, `changed` another type
like it; `near` makes another value like one.  Values are those of assemble.py.
"""
import random

from assemble import call, new, ref

KEYS = ("a", "b", "c")
LEAVES = ("none", "bool", "true", "false", "float", "finite", "any")
WORDS = ("", "a", "b", "ab", "zz", "é", "\x00", "\ud800")


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def bounds(self, most):
        """Of a length: both, one, or none."""
        lo, hi = sorted((self.random.randrange(most), self.random.randrange(most)))
        return self.random.choice(((lo, hi), (lo, None), (0, hi), (0, None)))

    def leaf(self):
        r = self.random
        word = r.choice(("int", "int", "mask", "str", "str", "text", "bytes", "literal", "object", "ref", "leaf"))
        if word == "int":
            lo, hi = sorted((r.randrange(-4, 9), r.randrange(-4, 9)))
            return r.choice((("int", lo, hi), ("int", lo, None), ("int", None, hi), ("int", None, None)))
        if word == "mask":
            return ("mask", r.randrange(8))
        if word in ("str", "text"):
            return (word, *self.bounds(4), r.choice((None, None, "a", "ab", "a-z")) if word == "str" else None)
        if word == "bytes":
            return (r.choice(("bytes", "bytearray")), *self.bounds(4))
        if word == "literal":
            return ("literal", r.choice((0, 1, 2, 7, -1, "", "a", "ab", b"", b"a")))
        if word == "object":
            return ("object", r.choice("KL"), *r.choice(((0, None), (0, 2), (1, None))))
        return ("ref", "R") if word == "ref" else (r.choice(LEAVES),)

    def type(self, depth):
        r = self.random
        if depth == 0 or r.random() < 0.25:
            return self.leaf()
        word = r.choice(("list", "set", "dict", "tuple", "tuple", "places", "record", "record", "union", "union", "name"))
        if word in ("list", "set"):
            return (word, self.leaf() if word == "set" else self.type(depth - 1), *self.bounds(3))
        if word == "dict":
            key = r.choice((("str", 0, None, None), ("str", 0, 1, None), ("literal", "a"), ("int", None, None)))
            return ("dict", key, self.type(depth - 1), *self.bounds(3))
        if word in ("tuple", "places"):
            return self.places(word, depth)
        if word == "record":
            fields = tuple((key, self.type(depth - 1), r.random() < 0.4) for key in KEYS if r.random() < 0.6)
            return ("record", fields, self.type(depth - 1) if r.random() < 0.3 or not fields else None)
        if word == "union":
            return ("union", tuple(self.type(depth - 1) for _ in range(r.randrange(2, 4))))
        return ("name",)

    def places(self, word, depth):
        r = self.random
        elems = tuple(self.type(depth - 1) for _ in range(r.randrange(2 if word == "places" else 1, 4)))
        repeats = r.random() < 0.3
        return (word, elems, 0 if repeats else r.randrange(len(elems) + 1), repeats)

    # ---- another type like it

    def changed(self, t):
        r = self.random
        if r.random() < 0.06:
            return self.type(1)
        word = t[0]
        if word == "int" and r.random() < 0.8:
            ends = [end if end is None else end + r.choice((0, 0, 1, -1)) for end in t[1:]]
            return ("int", *ends)
        if word == "mask":
            return ("mask", t[1] ^ 1 << r.randrange(3))
        if word in ("str", "text", "bytes", "bytearray", "list", "set", "dict") and r.random() < 0.5:
            at = {"list": 2, "set": 2, "dict": 3}.get(word, 1)
            lo, hi = t[at:at + 2]
            lo, hi = max(0, lo + r.choice((0, 1, -1))), hi if hi is None else max(0, hi + r.choice((0, 1, -1)))
            return (*t[:at], lo, hi, *t[at + 2:])
        if word in ("list", "set"):
            return (word, self.changed(t[1]), *t[2:])
        if word == "dict":
            return ("dict", t[1], self.changed(t[2]), *t[3:])
        if word in ("tuple", "places"):
            return self.changed_places(t)
        if word == "record":
            return self.changed_record(t)
        if word == "union":
            return self.changed_union(t)
        return self.type(1) if r.random() < 0.5 else t

    def changed_places(self, t):
        r, (word, elems, optional, repeats) = self.random, t
        if r.random() < 0.3:
            repeats = not repeats
            optional = 0
        elif r.random() < 0.3 and not repeats:
            optional = r.randrange(len(elems) + 1)
        elif r.random() < 0.3:
            elems += (self.type(1),)
        else:
            at = r.randrange(len(elems))
            elems = (*elems[:at], self.changed(elems[at]), *elems[at + 1:])
        return (word, elems, optional, repeats)

    def changed_record(self, t):
        r, (_, fields, rest) = self.random, t
        missing = [key for key in KEYS if key not in [field[0] for field in fields]]
        if missing and r.random() < 0.25:
            fields = tuple(sorted((*fields, (r.choice(missing), self.changed(rest or ("none",)), r.random() < 0.7))))
        elif r.random() < 0.25:
            rest = None if rest and fields else self.type(1)
        elif fields:
            at = r.randrange(len(fields))
            key, of, optional = fields[at]
            if r.random() < 0.25 and (len(fields) > 1 or rest):
                return ("record", fields[:at] + fields[at + 1:], rest)
            field = (key, of, not optional) if r.random() < 0.4 else (key, self.changed(of), optional)
            fields = (*fields[:at], field, *fields[at + 1:])
        return ("record", fields, rest)

    def changed_union(self, t):
        r, alternatives = self.random, list(t[1])
        r.shuffle(alternatives)
        choice = r.random()
        if choice < 0.25 and len(alternatives) > 2:
            alternatives.pop()
        elif choice < 0.5:
            alternatives.append(self.type(1))
        elif choice < 0.8:
            alternatives[0] = self.changed(alternatives[0])
        return ("union", tuple(alternatives))

    # ---- policies: types by place

    def policy(self):
        r = self.random
        record = ("record", (("a", self.leaf(), True),), self.type(1))
        return {"T": ("union", (("none",), self.type(1), r.choice((("list", ("name",), 0, 3), ("dict", ("str", 0, None, None), ("name",), 0, None))))),
                "root": ("tuple", (r.choice((self.type(2), self.type(2), record)), ("object", "K", 0, None), ("object", "L", 0, None)), 2, False), "x": self.type(2), "y": self.type(1) if r.random() < 0.5 else None, "state": self.type(2),
                "state optional": r.random() < 0.5, "items": self.type(1), "K call": r.random() < 0.7, "depth": r.randrange(4, 7),
                "second": self.type(1) if r.random() < 0.4 else None}

    def version(self, policy):
        """What a next version might be; its named type has another name."""
        out = dict(policy)
        for _ in range(self.random.choice((1, 1, 1, 2, 3))):
            key = self.random.choice([*out, "root", "root", "x", "state"])
            if key in ("state optional", "K call"):
                out[key] = not out[key]
            elif key == "depth":
                out[key] = self.random.randrange(4, 7)
            elif out[key] is not None:
                out[key] = self.changed(out[key])
        return out

    def unchanged(self, policy):
        """The same in other words: alternatives in another order."""
        return {key: self.reordered(t) if isinstance(t, tuple) else t for key, t in policy.items()}

    def reordered(self, t):
        if not isinstance(t, tuple):
            return t
        parts = [self.reordered(part) for part in t]
        if t and t[0] == "union":
            parts[1] = tuple(self.random.sample(parts[1], len(parts[1])))
        return tuple(parts)

    # ---- values

    def count(self, lo, hi):
        return self.random.choice([n for n in {lo, lo + 1, hi if hi is not None else lo + 2, min(lo + 1, 3)} if n >= lo and (hi is None or n <= hi)])

    def value(self, policy, t, depth=5):
        r, word = self.random, t[0]
        if word == "none" or depth == 0:
            return None
        if word in ("bool", "true", "false"):
            return r.choice((True, False)) if word == "bool" else word == "true"
        if word in ("float", "finite"):
            return r.choice((1.5, float("nan"))) if word == "float" else -0.5
        if word == "int":
            lo = t[1] if t[1] is not None else (t[2] if t[2] is not None else 0) - 3
            hi = t[2] if t[2] is not None else lo + 3
            return r.choice((lo, hi, r.randint(lo, hi)))
        if word == "mask":
            return r.randrange(8) & t[1]
        if word in ("str", "text"):
            return "".join(r.choice(t[3] and "a" or "abé") for _ in range(self.count(t[1], t[2])))
        if word in ("bytes", "bytearray"):
            data = b"x" * self.count(t[1], t[2])
            return data if word == "bytes" else call("builtins::bytearray", data)
        if word == "literal":
            return t[1]
        if word == "object":
            return self.object(policy, t, depth - 1)
        if word == "ref":
            return ref("m::R")
        if word == "any":
            return self.value(policy, self.type(1), depth - 1)
        if word == "name":
            return self.value(policy, policy["T"], depth - 1)
        if word == "union":
            return self.value(policy, r.choice(t[1]), depth)
        return self.compound(policy, t, depth - 1)

    def compound(self, policy, t, depth):
        r, word = self.random, t[0]
        if word == "list":
            return [self.value(policy, t[1], depth) for _ in range(self.count(t[2], t[3]))]
        if word == "set":
            members = [self.value(policy, t[1], depth) for _ in range(self.count(t[2], t[3]))]
            return set(m for m in members if isinstance(m, (int, str, type(None))))
        if word == "dict":
            return {self.value(policy, t[1], depth): self.value(policy, t[2], depth) for _ in range(self.count(t[3], t[4]))}
        if word == "record":
            out = {key: self.value(policy, of, depth) for key, of, optional in t[1] if not optional or r.random() < 0.5}
            if t[2] and r.random() < 0.8:
                others = [key for key in (*KEYS, "d") if key not in [field[0] for field in t[1]]]
                out[r.choice(others)] = self.value(policy, t[2], depth)
            return out
        elems, optional, repeats = t[1:]
        fixed = len(elems) - repeats
        count = r.randint(fixed - optional, fixed + (2 if repeats else 0))
        values = [self.value(policy, elems[min(i, len(elems) - 1)], depth) for i in range(count)]
        return values if word == "places" else tuple(values)

    def object(self, policy, t, depth):
        r = self.random
        if t[1] == "L":
            return call("m::L", items=[self.value(policy, policy["items"], depth) for _ in range(self.count(t[2], t[3]))])
        if policy["second"] and r.random() < 0.4:
            return new("m::K", self.value(policy, policy["second"], depth))
        args = [self.value(policy, policy["x"], depth)]
        if policy["y"] and r.random() < 0.5:
            args.append(self.value(policy, policy["y"], depth))
        with_state = not policy["state optional"] or r.random() < 0.6
        state = [self.value(policy, policy["state"], depth)] if with_state else None
        return (call if policy["K call"] else new)("m::K", *args, state=state)

    def near(self, v):
        """Another value like `v`."""
        r = self.random
        if isinstance(v, bool) or v is None:
            return r.choice((None, True, False, 0, ""))
        if isinstance(v, int):
            return v + r.choice((1, -1, 2))
        if isinstance(v, float):
            return r.choice((float("inf"), 0.25, 1))
        if isinstance(v, str):
            return r.choice((v + "a", v[:-1], v + r.choice(WORDS)))
        if isinstance(v, bytes):
            return r.choice((v + b"x", v[:-1]))
        if isinstance(v, (list, tuple)):
            return self.near_sequence(v)
        if isinstance(v, dict):
            return self.near_dict(v)
        if isinstance(v, set):
            return v ^ {r.choice((0, 1, "a"))}
        return self.near_object(v) if v.verb in ("call", "new") else None

    def near_sequence(self, v):
        r, members = self.random, list(v)
        if not members or r.random() < 0.2:
            members.append(r.choice((None, 1, "a")))
        elif r.random() < 0.3:
            members.pop()
        else:
            at = r.randrange(len(members))
            members[at] = self.near(members[at])
        return type(v)(members)

    def near_dict(self, v):
        r, out = self.random, dict(v)
        if not out or r.random() < 0.3:
            out[r.choice(KEYS + ("d",))] = r.choice((None, 1, "a", 0))
        else:
            key = r.choice(list(out))
            old = out.pop(key)
            if r.random() < 0.7:
                out[key] = self.near(old)
        return out

    def near_object(self, v):
        r = self.random
        args, state, items = list(v.args), v.state, v.items
        if state and r.random() < 0.5:
            state = None if r.random() < 0.2 else [self.near(state[0])]
        elif items is not None and r.random() < 0.6:
            items = self.near_sequence(items)
        else:
            args = list(self.near_sequence(args))
        return (call if v.verb == "call" else new)(v.name, *args, state=state, items=items)


def quoted(text):
    return '"%s"' % "".join(c if " " <= c <= "~" and c not in '"\\' else "\\u{%x}" % ord(c) for c in text)


def ranged(word, lo, hi):
    if lo in (0, None) and hi is None:
        return word
    return "%s[%s..%s]" % (word, "" if lo is None else lo, "" if hi is None else hi)


def text_of(t, name):
    word = t[0]
    if word == "int":
        return "int" if t[1:] == (None, None) else ranged("int", *t[1:]) if t[1] != 0 else "int[0..%s]" % ("" if t[2] is None else t[2])
    if word == "mask":
        return "int mask %d" % t[1]
    if word in ("str", "text"):
        return ranged(word, t[1], t[2]) + (' chars "%s"' % t[3] if t[3] else "")
    if word in ("bytes", "bytearray"):
        return ranged(word, t[1], t[2])
    if word == "literal":
        v = t[1]
        return str(v) if isinstance(v, int) else quoted(v) if isinstance(v, str) else 'b"%s"' % v.decode()
    if word == "object":
        return ranged("m::" + t[1], t[2], t[3])
    if word == "ref":
        return "ref m::R"
    if word == "name":
        return name
    if word in ("list", "set"):
        return ranged("%s<%s>" % (word, text_of(t[1], name)), t[2], t[3])
    if word == "dict":
        return ranged("dict<%s, %s>" % (text_of(t[1], name), text_of(t[2], name)), t[3], t[4])
    if word in ("tuple", "places"):
        elems, optional, repeats = t[1:]
        fixed = len(elems) - repeats
        marks = ["..." if i >= fixed else "?" if i >= fixed - optional else "" for i in range(len(elems))]
        return "%s<%s>" % ("tuple" if word == "tuple" else "list", ", ".join(atom(e, name) + m for e, m in zip(elems, marks)))
    if word == "record":
        fields = ["%s%s: %s" % (key, "?" if optional else "", text_of(of, name)) for key, of, optional in t[1]]
        return "{ %s }" % ", ".join(fields + (["*: " + text_of(t[2], name)] if t[2] else []))
    if word == "union":
        return " | ".join(atom(alternative, name) for alternative in t[1])
    return word


def atom(t, name):
    return "(%s)" % text_of(t, name) if t[0] == "union" else text_of(t, name)


def policy_text(policy, name):
    """`name`: of the type that may hold itself."""
    types = {key: t and atom(t, name) for key, t in policy.items() if key not in ("state optional", "K call", "depth")}
    second = ' | new(z: %s) because "random"' % types["second"] if types["second"] else ""
    return """policy p 1;
budget depth %d;
type %s = %s;
module m {
    class K %s(x: %s%s) state%s %s because "random"%s;
    class L call() items %s;
    class R ref;
}
root %s;
""" % (policy["depth"], name, text_of(policy["T"], name), "call" if policy["K call"] else "new", types["x"],
       ", y?: " + types["y"] if types["y"] else "", "?" if policy["state optional"] else "", types["state"], second,
       types["items"], text_of(policy["root"], name))
