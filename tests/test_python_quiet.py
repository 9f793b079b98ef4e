#!/usr/bin/python3
"""No Python code of the host's runs for what a stream names, but what docs/python.md says: classes with code in every place that Python
looks into are described, sent as exceptions, and sent under a policy that fails open.

usage: test_python_quiet.py BUILD [--alone]       (from the top folder, after `make test`)

Then the same by every other CPython that is found, for which the module is built into BUILD/python; --alone leaves that out.
"""
import gc
import os
import pickle
import sys
import traceback

import quiet_samples as samples
from assemble import assemble, call, new
from guards import guard, run_by_others
from quiet_samples import RAN
from tally import Tally

tally = Tally()
check = tally.check

GUARDS = {"open_guard": "tests/policy/python/open.policy"}
BASES = {"E": Exception, "O": OSError, "S": SyntaxError, "I": ImportError, "A": AttributeError, "N": NameError, "U": UnicodeDecodeError, "K": KeyError,
         "V": ValueError}
if sys.version_info >= (3, 11):
    BASES["G"] = ExceptionGroup
SCALARS = [None, (), ("m",), (2, "gone"), (2, "gone", "f", None, "g"), ("utf-8", b"abc", 0, 1, "r"), ("g",), ("m", ("f", 1, 2, "x"))[:1]]
# What makes a class one that nobody is given for a descriptor, whatever its base.
LOUD = {"__new__", "__del__", "__getattr__", "__getattribute__", "__bool__", "__len__", "__notes__", "__cause__", "__context__", "__traceback__",
        "__suppress_context__", "__class__", "__module__", "print_file_and_line", "metaclass", "everything"}


def described(name, message, scalars=None, members=None):
    more = [] if scalars is None and members is None else [scalars] if members is None else [scalars, members]
    return pickle.dumps((("quiet_samples", name, message, ["d"], *more), None), 4)


def descriptors(g):
    """Nothing runs when one is made, raised, printed and forgotten; the text is that of the descriptor."""
    own = stand_ins = 0
    for prefix, base in BASES.items():
        for name, code in samples.one_for_each(prefix, base).items():
            for scalars in SCALARS:
                samples.forget()
                made = g.decode_exception(None, described(name, "said", scalars))
                check(not RAN, "%s %s: %s ran when it was made" % (base.__name__, code, RAN))
                try:
                    raise made
                except Exception as raised:
                    text = "".join(traceback.format_exception(type(raised), raised, raised.__traceback__))
                is_own, own_dict = type(made) is not g.RemoteError, BaseException.__dict__["__dict__"].__get__(made) if code == "__dict__" else vars(made)
                check(("said" in text or prefix == "G") and own_dict["__remote_denials__"] == ("d",), "%s %s: %s" % (base.__name__, code, text))
                made = None
                check(not RAN, "%s %s: %s ran when it was printed" % (base.__name__, code, RAN))
                if prefix == "E" and code != "__init_subclass__":  # which says no where a text is given
                    check(is_own != (code in LOUD), "%s by %r: of its class %s" % (code, scalars, is_own))
                own, stand_ins = own + is_own, stand_ins + (not is_own)
    check(own > 500 and stand_ins > 200, "%d of their class, %d stand-ins" % (own, stand_ins))


class Told(Exception):
    def __str__(self):
        RAN.append("__str__ of Told")
        return "told"

    def __init_subclass__(cls, **kw):
        RAN.append("__init_subclass__ of Told")


class MetaTold(Exception, metaclass=samples.Meta):
    __str__ = Told.__str__


def texts_of_their_own(g):
    """Are given by a subclass, which is made where its making runs nothing."""
    sys.modules["quiet_texts"] = sys.modules[__name__]
    for name in ("Told", "MetaTold"):
        samples.forget()
        made = g.decode_exception(None, pickle.dumps((("quiet_texts", name, "said", []), None), 4))
        check(type(made) is g.RemoteError and not RAN, "%r: %s" % (type(made).__name__, RAN))
    samples._make("Words", Exception, ["__str__", "__repr__", "__format__", "__hash__", "__eq__"], extra=1)
    samples.forget()
    made = g.decode_exception(None, described("Words", "said"))
    check(isinstance(made, samples.Words) and str(made) == "said" and repr(made) == "Words('said')" and not RAN, "%s: %s" % (type(made), RAN))
    check(type(made).__name__ == "Words" and type(made).__qualname__ == "Words" and type(made).__module__ == "quiet_samples", repr(type(made)))
    samples.forget()
    made = g.decode_exception(None, described("Partial", "said"))
    check(type(made) is g.RemoteError and not RAN, "%r: %s" % (made, RAN))
    for scalars in (([1],), ({},), (1, (2,)), ((),)):
        data = assemble((("quiet_samples", "Words", "said", [], scalars), None), 4)
        made = g.decode_exception(None, data)
        check(isinstance(made, samples.Words) and made.args == ("said",), "arguments that are not plain: %r" % (made.args,))
    made = g.decode_exception(None, described("Slotted", "said"))
    check(type(made) is samples.Slotted and str(made) == "said", repr(made))


def denied_names(g):
    """What the policies deny, under whichever name, is stood in for: `never` of both channels, a deny list, the closed list."""
    outer = type("Sub", (sys.modules["open_samples"].Secret,), {"__module__": "quiet_samples"})
    samples.Sub = outer
    samples.Alias = sys.modules["open_samples"].Secret
    samples.Moved = type("Moved", (Exception,), {"__module__": "subprocess"})
    samples.Unsaid = type("Unsaid", (Exception,), {"__module__": 7})
    import subprocess
    for module, name in (("open_samples", "Secret"), ("open_samples", "Told"), ("quiet_samples", "Sub"), ("quiet_samples", "Alias"), ("quiet_samples", "Moved"),
                         ("quiet_samples", "Unsaid"), ("builtins", "BrokenPipeError"), ("pickle", "_Stop")):
        made = g.decode_exception(None, pickle.dumps(((module, name, "said", []), None), 4))
        check(type(made) is g.RemoteError and str(made) == "%s.%s: said" % (module, name), "%s.%s: %r" % (module, name, type(made)))
    made = g.decode_exception(None, pickle.dumps((("subprocess", "CalledProcessError", "said", []), None), 4))
    check(isinstance(made, subprocess.CalledProcessError), repr(type(made)))
    # The Policy that is given in the channel's place has lists of its own: `deny module subprocess.*` of `objects`.
    made = g.decode_exception(None, pickle.dumps((("subprocess", "CalledProcessError", "said", []), None), 4), exception=g.objects)
    check(type(made) is g.RemoteError, repr(type(made)))
    for name, own in (("Secret", True), ("Forbidden", False)):  # one by the channel that is not asked, one by the file
        made = g.decode_exception(None, pickle.dumps((("open_samples", name, "said", []), None), 4), exception=g.objects)
        check((type(made) is not g.RemoteError) == own, "%s: %r" % (name, type(made)))


def nothing_is_left(g):
    """What was made in vain, and the classes that words were given for, end without code too."""
    samples.forget()
    gc.collect()
    check(not RAN, "%s ran at the end" % RAN)


def whole_exceptions(g):
    """Under a row of subclasses that names no hook: a class with code for what a stream asks of it is refused, and of others none runs."""
    made_of = 0
    for prefix, base in BASES.items():
        args = {"U": ("utf-8", b"abc", 0, 1, "r"), "G": ("g", [call("builtins::ValueError", 1)])}.get(prefix, ("m",))
        for name, code in samples.one_for_each(prefix, base).items():
            for after in ({}, {"state": [{"note": 1, "args": ("m",)}]}):
                data = assemble(call("quiet_samples::" + name, *args, **after), 4)
                samples.forget()
                try:
                    made = g.exception.loads(data)
                except g.RefusedError as error:
                    made = None
                    check(error.code in ("R218", "R222", "R223"), str(error))
                check(not RAN, "%s %s: %s ran" % (base.__name__, code, RAN))
                made_of += made is not None
                del made
                check(not RAN, "%s %s: %s ran at its end" % (base.__name__, code, RAN))
    check(made_of > 400, "%d were made" % made_of)


def values_within(g):
    """Objects with code for numbers, bytes, iteration and hashing, where a constructor or a member of C would ask for that."""
    for code in ("__index__", "__int__", "__iter__", "__getitem__", "__len__", "__buffer__", "__hash__", "__eq__", "__fspath__", "__bool__", "__str__", "__dir__"):
        samples._make("Value", Exception, [code])
        value = call("quiet_samples::Value", 1)
        sent = [call("builtins::" + name, *args) for name, args in (
            ("SyntaxError", ("m", value)), ("SyntaxError", ("m", ("f", value, value, value))), ("OSError", (value, "x")), ("OSError", (2, "x", value)),
            ("BlockingIOError", (11, "x", value)), ("UnicodeDecodeError", ("u", value, 0, 1, "r")), ("UnicodeDecodeError", ("u", b"x", value, value, "r")),
            ("UnicodeEncodeError", ("u", "x", value, value, "r")), ("UnicodeTranslateError", ("x", value, value, "r")), ("ExceptionGroup", ("g", value)),
            ("ImportError", (value,)), ("KeyError", (value,)), ("AttributeError", (value,)))]
        for name in ("args", "__notes__", "obj", "name", "name_from", "path", "characters_written", "lineno", "offset", "text", "errno", "filename", "msg"):
            sent += [call("builtins::" + cls, "m", state=[{name: value}]) for cls in ("SyntaxError", "BlockingIOError", "ImportError", "AttributeError", "NameError")]
        for one in sent:
            samples.forget()
            try:
                g.exception.loads(assemble(one, 4))
            except g.RefusedError:
                pass
            check(not RAN, "%s: %s ran" % (code, RAN))


def classes_of_all(g):
    """Under a policy that fails open there run those hooks alone that run under pickle, and no __init__ or __call__ of a metaclass."""
    runs = {"__new__", "__setattr__", "__setstate__", "__hash__", "__eq__", "append", "extend", "add", "__setitem__"}
    policy = g.objects.allow_fail_open()
    seen = set()
    for prefix, base in {"X": object, "L": list, "D": dict, "T": set, **BASES}.items():
        args = {"U": ("utf-8", b"abc", 0, 1, "r"), "G": ("g", [call("builtins::ValueError", 1)])}.get(prefix, () if prefix in "XLDT" else ("m",))
        for name, code in samples.one_for_each(prefix, base).items():
            for make in (call, new):
                for after in ({}, {"state": [{"note": 1}]}, {"items": [1]} if prefix == "L" else {}, {"pairs": [("a", 1)]} if prefix == "D" else {}):
                    value = make("quiet_samples::" + name, *args, **after)
                    for data in (assemble(value, 4), assemble([value], 4)):
                        samples.forget()
                        check(policy.scan(data) is not None and not RAN, "%s: scan ran %s" % (code, RAN))
                        try:
                            policy.check(data)
                        except g.RefusedError:
                            pass
                        check(not RAN, "%s: check ran %s" % (code, RAN))
                        try:
                            made = policy.loads(data)
                        except g.RefusedError:
                            made = None
                        ran = set(RAN)
                        seen |= ran
                        check(ran <= runs, "%s %s of %s: %s ran" % (make.__name__, code, base.__name__, ran - runs))
                        del made
                        check(set(RAN) <= runs, "%s of %s: %s ran at its end" % (code, base.__name__, set(RAN) - runs))
    check({"__new__", "__setstate__"} <= seen, "%s ran" % seen)


def printed_forms(g):
    """decode_exception asks a whole exception for str(), repr() and notes, and for nothing else."""
    runs = {"__str__", "__repr__", "__getattr__", "__getattribute__", "__get__ of __notes__"}
    for name, code in samples.one_for_each("E", Exception).items():
        data = assemble(call("quiet_samples::" + name, "m"), 4)
        samples.forget()
        try:
            g.decode_exception(data)
        except g.RefusedError:
            pass
        check(set(RAN) <= runs, "%s: %s ran" % (code, set(RAN) - runs))


def main():
    import open_samples

    g = guard(sys.argv[1], "open_guard")
    assert open_samples.Secret and os.path.isdir(sys.argv[1])
    tally.run((descriptors, texts_of_their_own, denied_names, whole_exceptions, values_within, nothing_is_left, classes_of_all, printed_forms), g)
    run_by_others(check, sys.argv[1], __file__, GUARDS)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
