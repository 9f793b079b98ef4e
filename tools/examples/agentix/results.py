"""How a host of agentix reads what a sandbox returned, with a guard in the place of `pickle.loads`.

A reply is {"ok": True, "value": pickled bytes}, or {"ok": False, "error": {...}} whose parts are text.  Who trusts the sandbox fully
says so once, when the program starts, and gets another object: no guard has a switch that turns it off.

Layer: example, over the module that `policyc --python` makes of policies/agentix.policy.
"""
import os
import pickle


class RemoteError(Exception):
    """The call failed in the sandbox.  Nothing of the exception there crosses but text."""

    def __init__(self, kind, message, traceback=""):
        super().__init__(kind, message, traceback)
        self.kind, self.message, self.traceback = kind, message, traceback

    def __str__(self):
        return "%s: %s" % (self.kind, self.message)


class CallCancelled(RemoteError):
    """It was cancelled there."""


class Trusted:
    """`pickle` itself, for sandboxes that the host trusts fully: whatever they send is run.

    The environment is read here and never again: setting the variable in a running program turns nothing off.
    """

    def __init__(self, environment=os.environ):
        if environment.get("AGENTIX_PICKLE_TRUST", "").strip().lower() not in ("1", "true", "yes"):
            raise ValueError("AGENTIX_PICKLE_TRUST does not say that the sandbox is trusted")

    def loads(self, data):
        return pickle.loads(data)


def result_of(reply, loads):
    """The value of a reply, by `guard.loads`, or that of `guard.with_types(Report)`, or of a Trusted."""
    if not isinstance(reply, dict):
        raise RemoteError("MalformedReply", "the reply is no mapping")
    if reply.get("ok") is True:
        value = reply.get("value")
        return None if value is None else loads(value)
    error = reply.get("error")
    if not isinstance(error, dict):
        raise RemoteError("MalformedError", "the reply has neither a value nor an error")
    kind, message, traceback = (error.get(part) if isinstance(error.get(part), str) else "" for part in ("type", "message", "traceback"))
    raise (CallCancelled if error.get("cancelled") is True else RemoteError)(kind or "Unknown", message, traceback)
