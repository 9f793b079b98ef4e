"""Pickles exceptions, most of them raised by what raises them, with every pickler and protocol of the Python that runs this
(2.7, and 3.6 and later).

usage: exceptions.py FOLDER         writes FOLDER/NAME.WAY.pN.pkl and prints a line `OUTCOME FILE` for each

OUTCOME is what policies/exceptions.policy must say: accept or a class of refusal.
"""
from __future__ import print_function

import binascii
import csv
import datetime
import decimal
import json
import os
import re
import socket
import struct
import subprocess
import sys
import xml.etree.ElementTree
import zipfile
import zlib

from values import PY2, write

if PY2:
    import exceptions as builtins
else:
    import builtins

CONTROL_FLOW = (GeneratorExit, KeyboardInterrupt, StopIteration, SystemExit,
                getattr(builtins, "StopAsyncIteration", StopIteration))
NEWER_SHAPES = ("UnicodeDecodeError", "UnicodeEncodeError", "UnicodeTranslateError", "ExceptionGroup", "BaseExceptionGroup")


class AppError(Exception):
    """Of the application: not granted."""


def raised(function, *args, **keywords):
    try:
        function(*args, **keywords)
    except BaseException as error:
        return error
    raise SystemError("%r raises nothing" % (function,))


def execute(text):
    exec(compile(text, "text", "exec"), {})


def built_in():
    """Every class of the builtins."""
    for name in sorted(dir(builtins)):
        cls = getattr(builtins, name)
        if not isinstance(cls, type) or not issubclass(cls, BaseException):
            continue
        if cls.__name__ != name or name in NEWER_SHAPES:
            continue
        outcome = "accept" if issubclass(cls, Exception) and not issubclass(cls, CONTROL_FLOW) else "global"
        yield name, cls(5, "text") if issubclass(cls, EnvironmentError) else cls("m"), outcome


def with_context():
    try:
        try:
            raise KeyError("inner")
        except KeyError:
            raise ValueError("outer")
    except ValueError as error:
        return error


def everywhere():
    """(name, exception, outcome), whatever the Python."""
    yield "open", raised(open, "/nonexistent"), "accept"
    yield "fd", raised(os.fstat, 999), "accept"
    yield "rename", raised(os.rename, "/nonexistent", "/b"), "accept"
    yield "listdir", raised(os.listdir, u"/nonexistent/\xe9"), "accept"
    yield "import", raised(__import__, "no_such_module"), "accept"
    for name, text in (("unclosed", "x = ("), ("syntax", "x = 1 1"), ("indent", "if 1:\nx"), ("from", "from os import nosuch"),
                       ("attribute", "(1).nosuch"), ("module_attribute", "import os; os.nosuch"), ("name", "nosuch"),
                       ("unbound", "def f():\n  print(q); q = 1\nf()"), ("argument", "len()"), ("index", "[][1]"),
                       ("tab", "if 1:\n        x\n\ty" if not PY2 else "if 1:\n  x\n y"), ("assertion", "assert 0, [1]"),
                       ("recursion", "def f(): f()\nf()")):
        yield name, raised(execute, text), "accept"
    yield "key", raised({}.__getitem__, (1, u"a")), "accept"
    yield "key_date", KeyError(datetime.date(2024, 2, 29)), "accept"
    yield "encode", raised(u"a\xe9".encode, "ascii"), "accept"
    yield "decode", raised(b"ab\xff".decode, "utf-8"), "accept"
    yield "decode_utf16", raised(b"\xff".decode, "utf-16"), "accept"
    yield "translate", UnicodeTranslateError(u"ab\xff", 2, 3, "bad"), "accept"
    yield "division", raised(lambda: 1 // 0), "accept"
    yield "overflow", raised(lambda: 2.0**10000), "accept"
    yield "json", raised(json.loads, "{x"), "accept"
    yield "number", raised(int, "x"), "accept"
    yield "decimal", raised(decimal.Decimal, "x"), "accept"
    yield "decimal_zero", raised(lambda: decimal.Decimal(1) / 0), "accept"
    context = decimal.Context(traps=[decimal.Inexact, decimal.Rounded])
    yield "decimal_two", raised(context.divide, decimal.Decimal(1), decimal.Decimal(3)), "accept"
    yield "regex", raised(re.compile, "("), "accept" if not PY2 else "recipe"
    yield "zlib", raised(zlib.decompress, b"x"), "accept"
    yield "struct", raised(struct.unpack, "<i", b""), "accept"
    yield "binascii", raised(binascii.unhexlify, b"x"), "accept"
    yield "csv", csv.Error("x"), "accept"
    yield "gaierror", socket.gaierror(-2, "Name or service not known"), "accept"
    yield "herror", socket.herror(1, "Unknown host"), "accept"
    yield "socket_timeout", socket.timeout("timed out"), "accept"
    yield "xml", raised(xml.etree.ElementTree.fromstring, "<"), "accept" if not PY2 else "global"
    yield "context", with_context(), "accept"
    yield "warning", UserWarning({u"a": [1]}), "accept"
    yield "application", AppError("x"), "global"
    attributed = ValueError("x")
    attributed.extra = 1
    yield "attributed", attributed, "recipe"
    yield "bare", ValueError(), "accept"
    yield "bare_os", OSError(), "accept"
    yield "one_os", OSError("m"), "accept"
    yield "many", ValueError("a", 1, None, [2.5]), "accept"
    yield "of_class", TypeError(int), "recipe"
    yield "of_function", TypeError(len), "global"
    yield "called", raised(subprocess.check_output, ["sh", "-c", "echo x; exit 3"]), "accept" if not PY2 else "recipe"
    yield "not_zip", zipfile.BadZipfile("x"), "accept" if not PY2 else "global"
    yield "not_an_exception", [ValueError("x")], "root"


def of_3():
    import asyncio
    import concurrent.futures
    import concurrent.futures.process
    import http.client
    import lzma
    import pathlib
    import pickle
    import queue
    import sqlite3
    import ssl
    import urllib.error
    yield "stat_bytes", raised(os.stat, b"/nonexistent"), "accept"
    yield "path", raised(pathlib.Path("/nonexistent/x").mkdir), "accept"
    yield "path_in_args", FileNotFoundError(2, "No such file", pathlib.PurePosixPath("/a")), "recipe"
    yield "blocking", BlockingIOError(11, "try again", 5), "accept"
    yield "memory", raised(bytearray, 1 << 62), "accept"
    yield "run", raised(subprocess.run, "echo x; exit 3", shell=True, check=True, stdout=subprocess.PIPE), "accept"
    yield "run_path", raised(subprocess.check_call, [pathlib.Path("false")] if sys.version_info >= (3, 8) else "false"), "accept"
    yield "timeout", raised(subprocess.run, ["sleep", "5"], timeout=0.01), "accept"
    yield "queue", raised(queue.Queue().get_nowait), "accept"
    yield "queue_full", queue.Full(), "accept"
    yield "unpickling", raised(pickle.loads, b"\xff."), "accept"
    yield "lzma", raised(lzma.decompress, b"x" * 40), "accept"
    yield "sqlite", raised(sqlite3.connect(":memory:").execute, "x"), "accept"
    yield "url", urllib.error.URLError("no host given"), "accept"
    yield "url_of", urllib.error.URLError(ConnectionRefusedError(111, "Connection refused")), "accept"
    yield "ssl", handshake(ssl), "accept"
    yield "ssl_eof", ssl.SSLEOFError(8, "EOF occurred in violation of protocol"), "accept"
    yield "futures_timeout", concurrent.futures.TimeoutError("x"), "accept"
    yield "futures_cancelled", concurrent.futures.CancelledError(), "global"
    yield "pool", concurrent.futures.process.BrokenProcessPool("x"), "accept"
    yield "asyncio_cancelled", asyncio.CancelledError(), "global"
    yield "asyncio_timeout", asyncio.TimeoutError(), "accept"
    yield "queue_empty", asyncio.QueueEmpty(), "accept"
    if sys.version_info >= (3, 8):
        yield "read", asyncio.IncompleteReadError(b"x", 5), "accept"
        yield "state", asyncio.InvalidStateError("x"), "accept"
    yield "http", http.client.RemoteDisconnected("x"), "global"
    if hasattr(builtins, "ExceptionGroup"):
        for named in of_3_11():
            yield named


def handshake(ssl):
    """What OpenSSL says about an answer that is none."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    session = context.wrap_bio(incoming, outgoing, server_hostname="host.example")
    wanted = raised(session.do_handshake)
    incoming.write(b"HTTP/1.0 400 Bad Request\r\n\r\n")
    error = raised(session.do_handshake)
    if not isinstance(wanted, ssl.SSLWantReadError) or not hasattr(error, "library"):
        raise SystemError("an unexpected end: %r" % (error,))
    return error


def of_3_11():
    noted = ValueError("x")
    noted.add_note("a note")
    attribute = raised(execute, "(1).nosuch")
    attribute.add_note("a note")
    missing = raised(execute, "from os import nosuch")
    missing.add_note("a note")
    group = ExceptionGroup("m", [noted, ExceptionGroup("inner", (OSError(2, "x", "/a"), attribute)), missing])  # noqa: F821
    yield "noted", noted, "accept"
    yield "noted_attribute", attribute, "accept"
    yield "noted_import", missing, "accept"
    yield "group", group, "accept"
    yield "group_noted", BaseExceptionGroup("m", [ValueError(1)]), "accept"  # noqa: F821  an ExceptionGroup
    yield "group_flow", BaseExceptionGroup("m", [KeyboardInterrupt()]), "global"  # noqa: F821
    yield "group_application", ExceptionGroup("m", [AppError()]), "global"  # noqa: F821


def exceptions():
    for source in (built_in, everywhere) + (() if PY2 else (of_3,)):
        for name, value, outcome in source():
            yield name, value, outcome


if __name__ == "__main__":
    write(sys.argv[1], exceptions())
