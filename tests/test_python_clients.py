#!/usr/bin/python3
"""Guards in the place of pickle where other programs call it: a listener and its clients, a shelf, the serializer of task messages.
Each with honest values and with attacks, of which nothing may run.

usage: test_python_clients.py BUILD       (from the top folder, after `make test`)
"""
import contextlib
import datetime
import decimal
import multiprocessing.connection
import os
import pickle
import shelve
import sys
import tempfile
import threading
import uuid

import celery
import kombu
import kombu.exceptions
import kombu.serialization

from guards import guard
from tally import Tally

tally = Tally()
check = tally.check

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
VALUE = {"id": uuid.UUID(int=7), "at": datetime.datetime(2024, 2, 29, 12), "sum": decimal.Decimal("1.50"), "raw": b"\0" * 300}
RAN = []  # by attacks


def run(*args):
    RAN.append(args)


class Attack:
    """Pickled, it is a call."""

    def __init__(self, function, *args):
        self.made_by = function, args

    def __reduce__(self):
        return self.made_by


def attacks(place):
    """Values that would leave a trace; the last in the midst of what is honest."""
    return [Attack(run, 1), Attack(os.mkdir, os.path.join(place, "made")), Attack(eval, "RAN.append(1)"),
            dict(VALUE, then=[VALUE, Attack(run, 2)])]


@contextlib.contextmanager
def refused(module, text, kind=None):
    """The refusal, or an error of the `kind` that a client makes of it; and nothing has run."""
    try:
        yield
    except module.RefusedError as error:
        check(kind is None and error.code == "R201", "%s: %r" % (text, error))
    except Exception as error:
        cause = error.args[0] if error.args else None
        check(kind and type(error) is kind and isinstance(cause, module.RefusedError) and cause.code == "R201", "%s: %r" % (text, error))
    else:
        check(False, "%s: an attack was loaded" % text)
    check(not RAN, "%s: ran %r" % (text, RAN))


# ---- multiprocessing.connection


def connections(module, place):
    """What a listener receives it reads as bytes, and loads those; recv() would call pickle."""
    listener = multiprocessing.connection.Listener(os.path.join(place, "socket"), "AF_UNIX", authkey=b"shared")

    def client():
        with multiprocessing.connection.Client(listener.address, authkey=b"shared") as there:
            there.send(VALUE)
            for attack in attacks(place):
                there.send(attack)
            there.send([VALUE, "last"])

    thread = threading.Thread(target=client)
    with listener:
        thread.start()
        with listener.accept() as here:
            check(module.loads(here.recv_bytes()) == VALUE, "a listener's value")
            for attack in attacks(place):
                with refused(module, "listener"):
                    module.loads(here.recv_bytes())
            check(module.loads(here.recv_bytes()) == [VALUE, "last"], "what follows attacks")
            try:
                here.recv_bytes()
                check(False, "more than was sent")
            except EOFError:
                check(True, "")
        thread.join()
    check(os.listdir(place) == [], "an attack has made %s" % os.listdir(place))


# ---- shelve


class Shelf(shelve.DbfilenameShelf):
    """A shelf whose values are read by a guard."""
    guard = None

    def __getitem__(self, key):
        if key not in self.cache:
            value = self.guard.loads(self.dict[key.encode(self.keyencoding)])
            if not self.writeback:
                return value
            self.cache[key] = value
        return self.cache[key]


def shelves(module, place):
    class Guarded(Shelf):
        guard = module

    path = os.path.join(place, "shelf")
    for writeback in (False, True):
        for protocol in PROTOCOLS:
            with shelve.open(path, "n", protocol) as plain:
                plain["honest"] = VALUE
                for i, attack in enumerate(attacks(place)):
                    plain[str(i)] = attack
            with Guarded(path, writeback=writeback) as shelf:
                text = "shelf, protocol %d, writeback %s" % (protocol, writeback)
                check(shelf["honest"] == VALUE and shelf.get("honest") == VALUE, text)
                for i in range(len(attacks(place))):
                    with refused(module, text):
                        shelf[str(i)]
                with refused(module, text):
                    list(shelf.values())
                shelf["more"] = [1]
                if writeback:
                    shelf["honest"]["changed"] = True
                check("none" not in shelf and shelf.get("none", 5) == 5 and shelf["more"] == [1], text)
            with Guarded(path) as shelf:
                check(shelf["honest"] == (dict(VALUE, changed=True) if writeback else VALUE), text + ": what was written back")
    check(not os.path.exists(os.path.join(place, "made")), "shelf: an attack has run")


# ---- kombu and celery


def register(module):
    kombu.serialization.register("guarded", pickle.dumps, module.loads, "application/x-python-serialize", "binary")


def kombu_messages(module, place):
    """In memory, from a producer to a consumer that accepts nothing else."""
    register(module)
    with kombu.Connection("memory://") as connection:
        queue = connection.SimpleQueue("guarded")
        queue.consumer.accept = {"application/x-python-serialize"}
        queue.put(VALUE, serializer="guarded")
        message = queue.get(timeout=5)
        check(message.payload == VALUE and message.content_type == "application/x-python-serialize", "a message's value")
        message.ack()
        for attack in attacks(place):
            queue.put(attack, serializer="guarded")
            with refused(module, "kombu", kombu.exceptions.DecodeError):
                queue.get(timeout=5)
        queue.close()
    check(os.listdir(place) == [], "kombu: an attack has made %s" % os.listdir(place))


def celery_tasks(module, place):
    """A worker's own way from a message to the task's arguments, without its processes."""
    register(module)
    app = celery.Celery("tests", broker="memory://", set_as_current=False)
    app.conf.update(task_serializer="guarded", accept_content=["guarded"], result_serializer="guarded")
    seen = []

    @app.task(name="tests.work")
    def work(*args, **kwargs):
        seen.append((args, kwargs))

    with app.connection_for_write() as connection, connection.channel() as channel:
        queue = app.amqp.queues[app.conf.task_default_queue](channel)
        queue.declare()
        sent = [((VALUE,), {"limit": 3}, True)] + [((attack,), {}, False) for attack in attacks(place)]
        for args, kwargs, _ in sent:
            work.apply_async(args, kwargs, connection=connection)
        for args, kwargs, honest in sent:
            message = queue.get(accept=app.conf.accept_content)
            check(message is not None, "celery: no message")
            with contextlib.nullcontext() if honest else refused(module, "celery", kombu.exceptions.DecodeError):
                given, named, _ = message.decode()
                app.tasks[message.headers["task"]](*given, **named)
        check(seen == [((VALUE,), {"limit": 3})], "celery: the tasks got %r" % seen)
    check(os.listdir(place) == [], "celery: an attack has made %s" % os.listdir(place))


def attacks_would_run(_, place):
    """By pickle itself: else nothing was shown."""
    for attack in attacks(place):
        pickle.loads(pickle.dumps(attack))
    check(len(RAN) == 3 and os.listdir(place) == ["made"], "attacks that do nothing: %r, %s" % (RAN, os.listdir(place)))
    RAN.clear()


def main():
    module = guard(sys.argv[1], "values_guard")
    sys.modules["builtins"].RAN = RAN  # for the attack by eval
    for test in (attacks_would_run, connections, shelves, kombu_messages, celery_tasks):
        with tempfile.TemporaryDirectory() as place:
            tally.run((test,), module, place)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
