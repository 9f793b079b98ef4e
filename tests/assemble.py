"""A small pickle assembler: from a description of a value to bytes, at any protocol, without Python's pickle.

None, bool, int, float, str, bytes, list, tuple, dict and set stand for themselves; call, new, ref and raw make the
rest.  No memo is used, nothing is checked: what a pickler never writes can be written here.
"""

import struct


class Node:
    def __init__(self, verb, name, args, kw=None, state=None, items=None, pairs=None):
        self.verb, self.name, self.args, self.kw = verb, name, args, kw
        self.state, self.items, self.pairs = state, items, pairs


def call(name, *args, **after):
    """REDUCE of `module::qualname`; after: state=[value], items=[...], pairs=[(key, value), ...]."""
    return Node("call", name, args, **after)


def new(name, *args, **after):
    """NEWOBJ (NEWOBJ_EX with kw={...}); at protocols 0 and 1 copyreg._reconstructor, which takes no arguments."""
    return Node("new", name, args, **after)


def ref(name):
    """The name as a value."""
    return Node("ref", name, ())


def raw(data):
    """Opcodes as they are; must push one value."""
    return Node("raw", data, ())


def str8(data):
    """A str of Python 2, by SHORT_BINSTRING."""
    return raw(b"U" + bytes([len(data)]) + data)


def short(text):
    """SHORT_BINUNICODE, for streams that are written by hand."""
    data = text.encode()
    return b"\x8c" + bytes([len(data)]) + data


def _number(value, protocol):
    if protocol == 0:
        return b"L%dL\n" % value
    if 0 <= value < 256:
        return b"K" + bytes([value])
    if -2**31 <= value < 2**31:
        return b"J" + struct.pack("<i", value)
    if protocol == 1:
        return b"L%dL\n" % value
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    if len(data) < 256:
        return b"\x8a" + bytes([len(data)]) + data
    return b"\x8b" + struct.pack("<i", len(data)) + data


def _text(value, protocol):
    if protocol == 0:
        return b"V" + b"".join(b"\\U%08x" % ord(c) if ord(c) < 32 or c == "\\" or ord(c) > 126 else c.encode()
                               for c in value) + b"\n"
    data = value.encode("utf-8", "surrogatepass")
    if protocol >= 4 and len(data) < 256:
        return b"\x8c" + bytes([len(data)]) + data
    return b"X" + struct.pack("<I", len(data)) + data


def _name(name, protocol):
    module, qualname = name.split("::")
    if protocol >= 4:
        return _text(module, protocol) + _text(qualname, protocol) + b"\x93"
    outer, dot, inner = qualname.rpartition(".")
    if dot:  # below protocol 4 a nested name is a getattr of the outer one
        return _node(call("builtins::getattr", ref(module + "::" + outer), inner), protocol)
    return b"c" + module.encode() + b"\n" + qualname.encode() + b"\n"


def _bytes(value, protocol):
    if protocol >= 3:
        return b"B" + struct.pack("<I", len(value)) + value
    if not value:
        return _name("builtins::bytes", protocol) + _tuple((), protocol) + b"R"
    return _name("_codecs::encode", protocol) + _tuple((value.decode("latin-1"), "latin1"), protocol) + b"R"


def _tuple(values, protocol):
    return b"(" + b"".join(_value(v, protocol) for v in values) + b"t"


def _pairs(pairs, protocol):
    return b"".join(_value(k, protocol) + _value(v, protocol) + b"s" for k, v in pairs)


def _node(node, protocol):
    if node.verb == "raw":
        return node.name
    if node.verb == "ref":
        return _name(node.name, protocol)
    if node.verb == "call":
        out = _name(node.name, protocol) + _tuple(node.args, protocol) + b"R"
    elif node.kw is not None:
        out = _name(node.name, protocol) + _tuple(node.args, protocol) + _value(node.kw, protocol) + b"\x92"
    elif protocol >= 2:
        out = _name(node.name, protocol) + _tuple(node.args, protocol) + b"\x81"
    else:
        out = _name("copyreg::_reconstructor", protocol)
        out += _tuple((ref(node.name), ref("builtins::object"), None), protocol) + b"R"
    for value in node.items or ():
        out += _value(value, protocol) + b"a"
    out += _pairs(node.pairs or (), protocol)
    if node.state is not None:
        out += _value(node.state[0], protocol) + b"b"
    return out


def _value(v, protocol):
    if isinstance(v, Node):
        return _node(v, protocol)
    if v is None:
        return b"N"
    if isinstance(v, bool):
        return (b"I01\n" if v else b"I00\n") if protocol < 2 else (b"\x88" if v else b"\x89")
    if isinstance(v, int):
        return _number(v, protocol)
    if isinstance(v, float):
        return b"F" + repr(v).encode() + b"\n" if protocol == 0 else b"G" + struct.pack(">d", v)
    if isinstance(v, str):
        return _text(v, protocol)
    if isinstance(v, bytes):
        return _bytes(v, protocol)
    if isinstance(v, tuple):
        return _tuple(v, protocol)
    if isinstance(v, list):
        return b"(l" + b"".join(_value(x, protocol) + b"a" for x in v)
    if isinstance(v, dict):
        return b"(d" + _pairs(v.items(), protocol)
    if isinstance(v, set):
        if protocol >= 4:
            return b"\x8f(" + b"".join(_value(x, protocol) for x in v) + b"\x90"
        return _node(call("builtins::set", list(v)), protocol)
    raise TypeError("no opcode for %r" % (v,))


def assemble(value, protocol):
    """The whole stream: PROTO from protocol 2 on, no frames."""
    head = b"\x80" + bytes([protocol]) if protocol >= 2 else b""
    return head + _value(value, protocol) + b"."
