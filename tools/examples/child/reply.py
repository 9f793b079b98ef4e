"""The child's end of upk-run and of `guard.run`: a function's value, or the exception that it raised, goes to the parent.

    import reply
    reply.send(work, *arguments)

Without channels for exceptions a child that raises one just fails: its traceback is on stderr, and its exit status is 1.  With them the
child needs the package tblib where it raises one, and a parent in Python imports it: a traceback crosses as tblib's classes.

Layer: example, for the child.
"""
import os
import pathlib
import pickle
import sys

PROTOCOL = 5


def put(variable, data):
    with os.fdopen(int(os.environ[variable]), "wb") as file:
        file.write(data)


def describe(error):
    """Both forms of an exception, as the example of a transport makes them (it needs the package tblib)."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "transport"))
    from describe import encode_exception
    return encode_exception(error)


def send(function, *arguments):
    try:
        value = pickle.dumps(function(*arguments), PROTOCOL)
    except Exception as error:
        if "UPK_DESCRIPTOR_FD" not in os.environ:
            raise
        rich, words = describe(error.with_traceback(error.__traceback__.tb_next or error.__traceback__))
        put("UPK_DESCRIPTOR_FD", words)
        put("UPK_EXCEPTION_FD", rich)
        sys.exit(1)
    put("UPK_RESULT_FD", value)
