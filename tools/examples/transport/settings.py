"""The keys of a profile that say how results are decoded, and what they mean where a compiled policy decides.

    remote-result-mode   data-only   the channel `result`
                         objects     the policy that the host made for objects of its application
    remote-result-guard  true        no other value where objects are decoded: no guard has a switch that turns it off
    learn                FILE        what `result` refuses is kept, and FILE learned from it (learning.py)
                         false       nothing is learned: who asks for it elsewhere, or on the command line, is told so

A profile is lines KEY=VALUE, include "FILE" and comments.  Its other keys are not looked at.

Layer: example, for the parent.
"""
import os
import re

MODES = {"data-only": "data-only", "data_only": "data-only", "objects": "objects", "default": "objects"}
GUARDS = {"": True, "true": True, "1": True, "on": True, "false": False, "none": False, "0": False, "off": False}
KEYS = ("remote-result-guard", "remote-result-mode", "learn")
MOST_FILES = 32


class ProfileError(ValueError):
    pass


def meaning(key, value):
    value = value.strip()
    if key == "learn":
        if value.lower() in ("true", "0", "1", ""):
            raise ProfileError("learn=%s: the name of a policy, or false" % value)
        return False if value.lower() == "false" else value
    words = GUARDS if key == "remote-result-guard" else MODES
    if value.lower() not in words:
        raise ProfileError("%s=%s: one of %s" % (key, value, ", ".join(word for word in words if word)))
    return words[value.lower()]


class Profile:
    """Before anything is read: data alone, under guard, nothing learned."""

    def __init__(self, path=None, command_line=()):
        read = {key: [] for key in KEYS}
        given = {key: [] for key in KEYS}
        if path is not None:
            self._read_file(os.path.realpath(path), read, [])
        for setting in command_line:
            self._read_line(setting, given)
        self.guard = self._one("remote-result-guard", read, given, True)
        self.mode = self._one("remote-result-mode", read, given, "data-only")
        learn = read["learn"] + given["learn"]
        if False in learn and set(learn) != {False}:
            raise ProfileError("learn=%s, where learn=false is said as well" % next(filter(None, learn)))
        self.learn = self._one("learn", read, given, None) or None
        if self.mode == "objects" and not self.guard:
            raise ProfileError("remote-result-guard=false with remote-result-mode=objects: no guard is turned off here")

    @staticmethod
    def _read_line(line, values):
        key, equals, value = line.partition("=")
        if equals and key.strip() in values:
            values[key.strip()].append(meaning(key.strip(), value))

    def _read_file(self, path, values, seen):
        if path in seen or len(seen) >= MOST_FILES:
            raise ProfileError("%s: included by itself, or one of more than %d files" % (path, MOST_FILES))
        seen.append(path)
        try:
            with open(path, encoding="utf-8") as file:
                lines = file.read().splitlines()
        except (OSError, ValueError) as error:
            raise ProfileError("%s: %s" % (path, error)) from None
        for line in lines:
            line = line.split("#")[0].strip()
            included = re.fullmatch(r'include\s+"([^"]*)"', line)
            if included:
                self._read_file(os.path.realpath(os.path.join(os.path.dirname(path), included[1])), values, seen)
            else:
                self._read_line(line, values)

    @staticmethod
    def _one(key, read, given, default):
        """The command line wins; what is said twice is said alike."""
        values = given[key] or read[key]
        if len(set(values)) > 1:
            raise ProfileError("%s has several values" % key)
        return values[0] if values else default

    def policy(self, result, objects=None):
        """`result` is the channel for data; `objects` what the host made for its application: `result.with_types(Report, Mode)`, or
        a module that was compiled from what it learned."""
        if self.mode == "data-only":
            return result
        if objects is None:
            raise ProfileError("remote-result-mode=objects: the host names no classes")
        return objects
