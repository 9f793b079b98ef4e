"""An exception as a child sends it: itself, where it can be pickled, and in words (`descriptor` of policies/pysandboxes.policy).

Layer: example, for the child, whose code it runs: str() and __reduce__ of exceptions.
"""
import builtins
import os
import pickle

import tblib
import wire

PROTOCOL = 5

# Below what the channel `descriptor` takes, so that no exception is too large to be told of.
MOST_FRAMES = 50
MOST_SCALARS = 16
MOST_DENIALS = 100
MOST_VISITED = 1_000  # causes, contexts and members that are looked at
DEEPEST_GROUP = 8
MOST_MEMBERS = 100  # of a group and the groups in it
LONGEST_NAME = 1_024
LONGEST_TEXTS = (65_536, 4_096, 256)  # the first whose descriptor fits, else the last without arguments and members

INTS = range(-2**63, 2**64)
GROUP = getattr(builtins, "BaseExceptionGroup", ())  # since Python 3.11


def denials_of(error, is_denial):
    """What was denied on the way to this error, innermost first: it may have been caught, and another raised."""
    found, seen, left = [], {id(error)}, [error]
    for at in left:  # grows
        found += ["%s: %s" % (type(at).__name__, text_of(at))] if is_denial(at) else []
        for next_one in (at.__cause__, at.__context__, *members_of(at)):
            if isinstance(next_one, BaseException) and id(next_one) not in seen and len(seen) < MOST_VISITED:
                seen.add(id(next_one))
                left.append(next_one)
    return found[::-1][:MOST_DENIALS]


def members_of(error):
    return GROUP.exceptions.__get__(error) if isinstance(error, GROUP) else ()


def text_of(error):
    try:
        return str.__str__(str(error))  # of a subclass of str, the text
    except Exception:
        return ""


def is_plain(value, longest):
    return (value is None or type(value) in (bool, float) or type(value) is int and value in INTS
            or type(value) in (str, bytes) and len(value) <= longest)


def file_of(value):
    try:
        return os.fspath(value)
    except TypeError:  # a descriptor's number, or none
        return None


def scalars_of(error, longest):
    """Its arguments, if all of them are plain.  An OSError keeps its files elsewhere, a group its members."""
    scalars = BaseException.args.__get__(error)
    if isinstance(error, OSError) and len(scalars) == 2:
        first, second = file_of(OSError.filename.__get__(error)), file_of(OSError.filename2.__get__(error))
        scalars += (first, None, second) if second is not None else (first,) if first is not None else ()
    elif isinstance(error, GROUP):
        scalars = scalars[:1]
    return scalars if len(scalars) <= MOST_SCALARS and all(is_plain(one, longest) for one in scalars) else None


class Words:
    """Makes descriptors whose texts are no longer than `longest`."""

    def __init__(self, longest, whole=True):
        self.longest, self.whole, self.left = longest, whole, MOST_MEMBERS

    def of(self, error, denials=(), depth=0):
        described = (*(("%s" % name)[:LONGEST_NAME] for name in (type(error).__module__, type(error).__qualname__)),
                     text_of(error)[:self.longest], [denial[:self.longest] for denial in denials])
        if not self.whole:
            return described
        members = self.of_members(error, depth + 1)
        return (*described, scalars_of(error, self.longest), *([members] if members else []))

    def of_members(self, error, depth):
        made = []
        for member in members_of(error) if depth <= DEEPEST_GROUP else ():
            if self.left > 0:
                self.left -= 1
                made.append(self.of(member, (), depth))
        return made


def traceback_of(error):
    """Of the innermost frames."""
    tb, frames = error.__traceback__, 0
    at = tb
    while at is not None:
        at, frames = at.tb_next, frames + 1
    for _ in range(frames - MOST_FRAMES):
        tb = tb.tb_next
    return tblib.Traceback(tb)


def encode_exception(error, is_denial=lambda error: isinstance(error, PermissionError)):
    """Of an exception that was caught: (a pickle of it and its traceback or b"", a pickle of its descriptor and its traceback)."""
    traceback = traceback_of(error)
    try:
        rich = pickle.dumps((error, traceback), PROTOCOL)
    except Exception:
        rich = b""
    denials = denials_of(error, is_denial)
    for words in (*map(Words, LONGEST_TEXTS), Words(LONGEST_TEXTS[-1], whole=False)):
        descriptor = pickle.dumps((words.of(error, denials), traceback), PROTOCOL)
        if len(descriptor) <= wire.PAYLOAD // 2:
            break
    return rich if len(rich) <= wire.PAYLOAD else b"", descriptor
