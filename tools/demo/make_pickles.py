#!/usr/bin/python3
"""Write the pickles of the demo: make_pickles.py OUT.

They are checked in; this file says how they were made.  The one of Python 2 was written by CPython 2.7.18, which runs this
file too and writes that one alone.  Nothing here is ever loaded.
"""
import datetime
import decimal
import os
import pickle
import sys
import types


def write(name, data):
    with open(os.path.join(sys.argv[1], name), "wb") as file:
        file.write(data)


def write_python2():
    write("python2.pkl", pickle.dumps({
        "host": "worker-3",
        u"city": u"Z\u00fcrich",
        "started": datetime.datetime(2009, 7, 1, 12, 30, 0, 250),
        "sizes": [1, 2 ** 31, 2 ** 70],
        "tags": set(["batch"]),
        "ratio": 0.1,
    }, 2))


class Call:
    """Pickles as the call of a function."""

    def __init__(self, function, *arguments):
        self.step = function, arguments

    def __reduce__(self):
        return self.step


def result_of_a_worker():
    """An object of a class of an application, module worker.bash."""
    module = types.ModuleType("worker.bash")
    module.BashResult = type("BashResult", (), {"__module__": "worker.bash"})
    sys.modules.update({"worker": types.ModuleType("worker"), "worker.bash": module})
    result = module.BashResult()
    result.exit_code = 0
    result.stdout = "42 rows\n"
    result.finished = datetime.datetime(2024, 2, 29, 12, 0)
    return result


def write_python3():
    meeting = {
        "title": "Release review",
        "start": datetime.datetime(2024, 2, 29, 14, 30, tzinfo=datetime.timezone.utc),
        "length": datetime.timedelta(minutes=45),
        "people": ("Ada", "Grace"),
        "days": {datetime.date(2024, 3, 1)},
        "room": None,
    }
    data = pickle.dumps(meeting, 4)
    write("meeting.pkl", data)
    write("truncated.pkl", data[:100])
    write("os_system.pkl", pickle.dumps({"answer": [1, 2, Call(os.system, "true")]}, 4))
    write("wrong_type.pkl", pickle.dumps({"start": [None, Call(datetime.date, "2024-02-29")]}, 4))

    write("result.pkl", pickle.dumps(result_of_a_worker(), 4))
    write("price.pkl", pickle.dumps({"item": "tea", "prices": [1, decimal.Decimal("9.90")]}, 4))

    bomb = []
    for _ in range(40):
        bomb = [bomb, bomb]
    write("sharing_bomb.pkl", pickle.dumps(bomb, 4))

    write("lfs_pointer.pkl", b"version https://git-lfs.github.com/spec/v1\n"
          b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 132735\n")


if sys.version_info[0] == 2:
    write_python2()
else:
    write_python3()
