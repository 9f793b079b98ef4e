"""Classes of tests/policy/builder.policy: what their instances do when they are built is written to `log`."""

log = []


class Node:
    """Attributes of any kind; compared and hashed by identity."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def __repr__(self):
        return "Node %s" % self.__dict__.get("name")


class Logged:
    """Keeps what its constructor was given."""

    def __init__(self, *what):
        log.append(("Logged", describe(what)))
        self.what = what

    def __reduce__(self):
        return Logged, self.what


class Seer:
    """Says what its __setstate__ sees."""

    def __init__(self, state=None):
        self.state = state

    def __getstate__(self):
        return self.state

    def __setstate__(self, state):
        log.append(("Seer", describe(state)))
        self.state = state


class Key:
    """Equal by its attribute `name`."""

    def __init__(self, name, **attributes):
        self.name = name
        self.__dict__.update(attributes)

    def __hash__(self):
        log.append(("hash", self.name))
        return hash(self.name)

    def __eq__(self, other):
        return isinstance(other, Key) and self.name == other.name

    def __repr__(self):
        return "Key %s" % self.__dict__.get("name")


class Bag(list):
    def __reduce__(self):
        return Bag, (), None, iter(list(self))


class Table(dict):
    def __reduce__(self):
        return Table, (), None, None, iter(list(self.items()))


class Pool(set):
    """Its members only come by ADDITEMS, which is written by hand."""


class Ref:
    pass


def describe(value, depth=8):
    """What code can see of a value without running any: its members, in order."""
    if depth == 0:
        return "..."
    if isinstance(value, (list, tuple)):
        return [type(value).__name__] + [describe(v, depth - 1) for v in value]
    if isinstance(value, dict):
        return [type(value).__name__] + [(describe(k, depth - 1), describe(v, depth - 1)) for k, v in value.items()]
    if isinstance(value, (set, frozenset)):
        return [type(value).__name__] + sorted(map(repr, (describe(v, depth - 1) for v in value)))
    if isinstance(value, (Node, Seer, Logged, Key)):
        return [type(value).__name__] + [(k, describe(v, depth - 1)) for k, v in sorted(value.__dict__.items())]
    return repr(value)
