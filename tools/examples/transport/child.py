"""The end of the transport that runs functions, and may be taken over by what they run.

Its parent sends calls, which it trusts: lines of base85 over pickles of (session, function, arguments, keywords).

Layer: example, for the child.
"""
import base64
import contextlib
import io
import pickle

import describe
import wire

LONGEST_ERROR = 1_000


def result_line(session, value, stdout="", stderr=""):
    """What was written is not read back and compared: values need no __eq__, and may hold themselves."""
    text = wire.to_text(pickle.dumps(value, describe.PROTOCOL))
    return wire.to_line({"session_id": session, "result": text, "stdout": stdout, "stderr": stderr})


def exception_line(session, error, stdout="", stderr=""):
    """In both forms, or if that is too long in words alone."""
    rich, descriptor = describe.encode_exception(error)
    reply = {"session_id": session, "exception": wire.to_text(rich), "exception_fallback": wire.to_text(descriptor), "stdout": stdout,
             "stderr": stderr}
    try:
        return wire.to_line(reply)
    except wire.TooLongError:
        return wire.to_line(dict(reply, exception=""))


def error_line(session, words):
    return wire.to_line({"session_id": session, "error": words})


def answer(session, function, args, keywords):
    """The line of one call.  What is no Exception, SystemExit too, ends the call and not the child."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            made, line_of = function(*args, **keywords), result_line
    except BaseException as error:
        made, line_of = error.with_traceback(error.__traceback__.tb_next or error.__traceback__), exception_line
    try:
        return line_of(session, made, out.getvalue(), err.getvalue())
    except Exception as error:  # it is too long, or cannot be pickled
        return error_line(session, "%s: %s" % (type(error).__name__, describe.text_of(error)[:LONGEST_ERROR]))


def serve(calls, replies):
    """Answers calls until there are no more; both are binary files."""
    for line in calls:
        replies.write(answer(*pickle.loads(base64.b85decode(line.strip()))))
        replies.flush()
