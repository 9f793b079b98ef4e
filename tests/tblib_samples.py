"""Classes with the names and the state of the package tblib, as its versions from 1.7 on pickle a traceback."""
import sys
import types


class Code:
    def __init__(self, code):
        self.co_filename, self.co_name = code.co_filename, code.co_name
        self.co_argcount = self.co_kwonlyargcount = self.co_nlocals = self.co_stacksize = 0
        self.co_varnames, self.co_flags, self.co_firstlineno = (), 64, 0


class Frame:
    def __init__(self, frame):
        self.f_locals = {}
        self.f_globals = {name: value for name, value in frame.f_globals.items() if name in ("__file__", "__name__")}
        self.f_code, self.f_lineno = Code(frame.f_code), frame.f_lineno


class Traceback:
    tb_next = None

    def __init__(self, tb):
        self.tb_frame, self.tb_lineno = Frame(tb.tb_frame), tb.tb_lineno
        if tb.tb_next is not None:
            self.tb_next = Traceback(tb.tb_next)

    def lines(self):
        """(file, function, line) of each frame."""
        at, made = self, []
        while at is not None:
            made.append((at.tb_frame.f_code.co_filename, at.tb_frame.f_code.co_name, at.tb_lineno))
            at = at.tb_next
        return made


def install():
    """As the module tblib, which holds more than its classes, as the real one does."""
    module = types.ModuleType("tblib")
    for cls in (Code, Frame, Traceback):
        cls.__module__ = "tblib"
        setattr(module, cls.__name__, cls)
    module.sys = sys
    sys.modules["tblib"] = module
    return module
