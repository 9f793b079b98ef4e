"""The line that carries a reply from a child to its parent: a server-sent event of JSON, whose pickles are text in base85.

Layer: example, for both ends.  Nothing here reads a pickle.
"""
import base64
import json

# A pickle of PAYLOAD bytes has 491,520 characters in base85.  What is left of a line is for the rest of the reply: names, quotes, and
# what the function printed.  PAYLOAD is the budget `bytes` of policies/pysandboxes.policy as well.
LINE = 524_288  # characters without the end of the line; the limit that the parent gives its StreamReader
ENVELOPE = 32_768
PAYLOAD = (LINE - ENVELOPE) * 4 // 5

OUTCOMES = ("result", "exception", "error", "cancelled")  # a reply has one of them
FIELDS = {"session_id": str, "result": str, "exception": str, "exception_fallback": str, "error": str, "cancelled": bool, "stdout": str,
          "stderr": str}


class TransportError(Exception):
    """No reply came, or one that is none.  What the function raised in the child is never one of these (`Reply.value`)."""


class TooLongError(TransportError):
    """A reply does not fit a line."""


def to_text(pickled):
    if len(pickled) > PAYLOAD:
        raise TooLongError("a pickle of %d bytes, where a line takes %d" % (len(pickled), PAYLOAD))
    return base64.b85encode(pickled).decode("ascii")


def from_text(text):
    if len(text) > PAYLOAD // 4 * 5:  # before it is decoded, which costs more than all that follows
        raise TooLongError("%d characters of base85, where a line takes %d" % (len(text), PAYLOAD // 4 * 5))
    try:
        return base64.b85decode(text)
    except ValueError as error:
        raise TransportError("no base85: %s" % error) from None


def to_line(reply):
    """JSON in ASCII, so that its characters are bytes; base85 has none that JSON escapes."""
    line = "data: " + json.dumps(reply, separators=(",", ":"))
    if len(line) > LINE:
        raise TooLongError("a reply of %d characters, where a line takes %d" % (len(line), LINE))
    return line.encode("ascii") + b"\n\n"


def fields_once(pairs):
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key comes twice")
    return fields


def from_line(line):
    try:
        # No field is a number, and to read a long one takes its time.
        reply = json.loads(line.decode("ascii").partition(":")[2], object_pairs_hook=fields_once, parse_int=lambda digits: None)
    except (ValueError, RecursionError) as error:
        raise TransportError("no reply: %s" % error) from None
    if not isinstance(reply, dict):
        raise TransportError("no reply: not an object")
    for name, value in reply.items():
        if type(value) is not FIELDS.get(name):
            raise TransportError("no reply: %.100r is %s" % (name, type(value).__name__))
    if sum(name in reply for name in OUTCOMES) != 1 or "session_id" not in reply or ("exception" in reply) != ("exception_fallback" in reply):
        raise TransportError("no reply: it has %s" % (", ".join(sorted(reply)) or "nothing"))
    return reply


async def read_reply(reader):
    """The next reply, from an asyncio.StreamReader that was made with limit=LINE."""
    while True:
        try:
            line = await reader.readline()
        except ValueError:
            raise TooLongError("a line of more than %d characters" % LINE) from None
        if not line.endswith(b"\n"):
            raise TransportError("the child ended without a reply")
        if line.startswith(b"data:"):
            return from_line(line)
