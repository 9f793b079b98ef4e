"""What children of the tests run, and whether this machine can confine one."""
import os
import subprocess

PYTHON = "/usr/bin/python3"

HEAD = """
import os, pickle, socket, sys, time
def reply(data):
    with os.fdopen(int(os.environ["UPK_RESULT_FD"]), "wb") as file:
        file.write(data)
def send(value):
    reply(pickle.dumps(value, 4))
"""


def command(text):
    """A child of Python."""
    return [PYTHON, "-c", HEAD + text]


VALUE = command("send({'ratio': 0.5, 'names': ['a', 'b'], 'none': None})")
VALUE_IS = {"ratio": 0.5, "names": ["a", "b"], "none": None}
ATTACK = command("reply(b'cos\\nsystem\\n(S\\'touch ran-it\\'\\ntR.')")
ENDLESS = command("""
with os.fdopen(int(os.environ["UPK_RESULT_FD"]), "wb") as file:
    while True:
        file.write(b"(" * 65536)
""")
NOTHING = command("pass")
FAILS = command("send(1); sys.exit(7)")
HANGS = command("send(1); time.sleep(60)")
STOPS = command("os.kill(os.getpid(), 19)")
KILLS_ITSELF = command("os.kill(os.getpid(), 9)")
GOES_ON = command("reply(pickle.dumps(1, 4) + b'more')")
CLOSES_EARLY = command("os.close(int(os.environ['UPK_RESULT_FD'])); time.sleep(60)")

# Grandchildren in sessions of their own, which hold all that they were given.
LEAVES_OTHERS = """
send_to = os.dup(int(os.environ["UPK_RESULT_FD"]))
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(60)  # %s
    os._exit(0)
os.wait()
send("left")
"""

# What a child can find of the host's variables: its own, those of any process that it sees, and what its parent was started with.
LOOKS_FOR_SECRETS = command("""
found = [("environ", name, value) for name, value in os.environ.items()]
for name in os.listdir("/proc"):
    for file in ("environ", "cmdline", "task/%s/environ" % name):
        try:
            with open("/proc/%s/%s" % (name, file), "rb") as at:
                found.append((name, file, at.read().decode("latin-1")))
        except OSError:
            pass
send([sorted(name for name in os.listdir("/proc") if name.isdigit()), [list(one) for one in found]])
""")

LOOKS_AROUND = command("""
def attempt(function, *arguments):
    try:
        function(*arguments)
        return "yes"
    except OSError as error:
        return error.errno
def create(path):
    with open(path, "w") as file:
        file.write("x")
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
send({
    "folder": os.getcwd(), "home": os.environ.get("HOME"),
    "here": sorted(os.listdir(".")), "root": sorted(os.listdir("/")), "tmp": sorted(os.listdir("/tmp")),
    "write here": attempt(create, "made"), "write /": attempt(create, "/made"), "write /usr": attempt(create, "/usr/made"),
    "write /dev": attempt(create, "/dev/made"), "write tmp": attempt(create, "/tmp/made"), "shadow": attempt(open, "/etc/shadow"),
    "tty": attempt(open, "/dev/tty", "r+b", 0), "sysctl": attempt(os.open, "/proc/sys/vm/swappiness", os.O_WRONLY),
    "pid": os.getpid(), "session": os.getsid(0),
    "descriptors": sorted(int(name) for name in os.listdir("/proc/self/fd"))[:-1],
    "stdin": sys.stdin.read(), "privileges": status["NoNewPrivs"].strip(), "capabilities": int(status["CapEff"], 16),
    "interfaces": sorted(line.split(":")[0].strip() for line in open("/proc/net/dev") if ":" in line),
    "unshare": attempt(os.unshare, 0x10000000) if hasattr(os, "unshare") else 1,
})
""")


def confinement():
    """"" or why this machine confines no child, as bubblewrap says it."""
    try:
        done = subprocess.run(["/usr/bin/bwrap", "--unshare-user", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "/bin/true"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError as error:
        return str(error)
    return "" if done.returncode == 0 else done.stdout.decode("utf-8", "replace").strip() or "bwrap: exit status %d" % done.returncode


def run_confined(tally, tests, *args):
    """Runs them, or says that they were not."""
    reason = confinement()
    if reason:
        print("not run: %d tests of confined children: %s" % (len(tests), reason))
    else:
        tally.run(tests, *args)


def processes_with(text):
    """Of this machine, those whose command line holds the text."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open("/proc/%s/cmdline" % name, "rb") as file:
                if text.encode() in file.read() and int(name) != os.getpid():
                    found.append(int(name))
        except (OSError, ValueError):
            pass
    return found
