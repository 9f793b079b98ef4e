"""The end of the transport that is not to be harmed: what it takes from a child is decided by a compiled policy, whatever the child is.

Layer: example, for the parent, over the module that `policyc --python` makes of policies/pysandboxes.policy.
"""
import base64
import pickle

import wire


def call_line(session, function, args=(), keywords=None):
    """A call, for a child that trusts its parent."""
    return base64.b85encode(pickle.dumps((session, function, tuple(args), keywords or {}), 5)) + b"\n"


def denials(error):
    """What was denied in the child on the way to an error that it sent; None for errors that it did not send."""
    return getattr(error, "__remote_denials__", None)


class Reply:
    """What a child answered.  Errors of the transport are raised before there is one, those of the function by `value`."""

    def __init__(self, fields, policy, guard, lessons):
        self.stdout, self.stderr = fields.get("stdout", ""), fields.get("stderr", "")
        self._policy, self._guard, self._lessons = policy, guard, lessons
        self._forms = [wire.from_text(fields[name]) for name in ("result", "exception", "exception_fallback") if name in fields]

    def value(self):
        """What the function returned; or raises what it raised, or that this is refused (`guard.RefusedError`)."""
        if len(self._forms) == 2:
            raise self._guard.decode_exception(*self._forms)
        try:
            return self._policy.loads(self._forms[0])
        except self._guard.RefusedError:
            if self._lessons is not None:
                self._lessons.note(self._forms[0])
            raise


class Parent:
    def __init__(self, guard, profile, objects=None, lessons=None):
        """`objects` as in Profile.policy.  `lessons` are noted where the profile says into which file they go."""
        self.guard, self.policy = guard, profile.policy(guard.result, objects)
        self.lessons, self.learn_into = lessons if profile.learn else None, profile.learn

    def learn(self):
        """Writes what was noted, if anything: as Lessons.write."""
        return self.lessons.write(self.learn_into) if self.lessons is not None else (True, "")

    async def reply(self, reader, session):
        """The reply to the call of this session; TransportError where none comes."""
        fields = await wire.read_reply(reader)
        if fields["session_id"] != session:
            raise wire.TransportError("a reply to %.100r, not to %.100r" % (fields["session_id"], session))
        if "error" in fields:
            raise wire.TransportError("the child says: " + fields["error"])
        if "cancelled" in fields:
            raise wire.TransportError("the child cancelled the call")
        return Reply(fields, self.policy, self.guard, self.lessons)
