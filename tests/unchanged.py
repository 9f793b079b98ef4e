"""What no stream may change: the modules that are loaded, their names, the members of classes, the parts of functions."""
import gc
import sys
import types

OWN = {"__warningregistry__", "_cache", "_abc_impl"}  # what the library changes by itself


def snapshot():
    kept = {}
    for name, module in list(sys.modules.items()):
        if isinstance(module, types.ModuleType):
            kept["module " + name] = dict(vars(module))
    for found in gc.get_objects():
        if isinstance(found, type):
            kept["class %s.%s %d" % (found.__module__, found.__qualname__, id(found))] = dict(vars(found))
        elif type(found) is types.FunctionType:
            kept["function %s.%s %d" % (found.__module__, found.__qualname__, id(found))] = {
                "code": found.__code__, "defaults": found.__defaults__, "kw": found.__kwdefaults__, "dict": dict(vars(found))}
    return kept


def changes(before, after):
    """What differs, one text for each thing that has changed or is a new module."""
    found = ["%s is new" % name for name in after if name.startswith("module ") and name not in before]
    for name, parts in before.items():
        now = after.get(name)
        if now is None:
            continue  # a class or function that nobody held
        changed = [k for k in set(parts) | set(now) if parts.get(k) is not now.get(k) and k not in OWN
                   and not (name.startswith("function") and parts.get(k) == now.get(k))]
        if changed:
            found.append("%s has other %s" % (name, sorted(changed)))
    return found
