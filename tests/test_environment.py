#!/usr/bin/python3
"""The environment of a child: what a guard's `environment` lets through, and what policyc says of the blocks; row by row what a client of
sandboxes had (docs/systems.md), and that docs/environment.md lists what there is.

usage: test_environment.py BUILD [--alone]       (from the top folder, after `make test`)

Then the same by every other CPython that is found, for which the modules are built into BUILD/python; --alone leaves that out.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

from guards import guard, run_by_others
from policyc import Policyc
from tally import Tally

tally = Tally()
check = tally.check

GUARDS = {"environment_guard": "policies/environment.policy", "child_guard": "tests/policy/ok/environment.policy"}
STANDARD = ("PATH LANG LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_MONETARY LC_NUMERIC LC_TIME TZ TERM TMPDIR SSL_CERT_FILE SSL_CERT_DIR "
            "REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS UV_PYTHON NO_COLOR FORCE_COLOR CI").split()
HOST = {"PATH": "/usr/bin:/bin", "LANG": "en_US.UTF-8", "LC_CTYPE": "C.UTF-8", "OPENAI_API_KEY": "sk-host", "AWS_SECRET_ACCESS_KEY": "aws-host",
        "LC_PRIVATE_TOKEN": "token-host", "HOST_ONLY": "only", "HOME": "/root", "AGENT_KEY": "key-of-the-host"}
DANGEROUS = """GLIBC_TUNABLES npm_config_script_shell npm_config_userconfig npm_config_node_options npm_config_globalconfig NPM_CONFIG_SCRIPT_SHELL
NPM_CONFIG_USERCONFIG NPM_CONFIG_NODE_OPTIONS NPM_CONFIG_GLOBALCONFIG LUA_INIT LUA_INIT_5_4 LUA_PATH LUA_CPATH_5_4 RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER
CARGO_HOME CARGO_BUILD_RUSTC_WRAPPER CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER COR_PROFILER CORECLR_PROFILER_PATH_64 DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS
TAR_OPTIONS ZIPOPT LESS LESSEDIT LESSOPEN PS0 PS1 PS4 MAVEN_OPTS GRADLE_OPTS JRUBY_OPTS JAVA_HOME ERL_AFLAGS PERL_MM_OPT GNUMAKEFLAGS CONFIG_SHELL CONFIG_SITE
CCACHE_PREFIX CMAKE_C_COMPILER_LAUNCHER PKG_CONFIG PKG_CONFIG_PATH GOROOT GOENV GOTOOLCHAIN GOAUTH BASH_LOADABLES_PATH FPATH AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE
DOCKER_CONFIG CONTAINER_HOST KRB5_CONFIG GSS_MECH_CONFIG SSH_SK_PROVIDER GNUPGHOME GDK_PIXBUF_MODULE_FILE GST_PLUGIN_PATH QT_QPA_PLATFORM_PLUGIN_PATH VK_ICD_FILENAMES
LIBGL_DRIVERS_PATH SUDO_EDITOR FCEDIT HGEDITOR PSQL_PAGER BUN_OPTIONS ELECTRON_RUN_AS_NODE JULIA_DEPOT_PATH JULIA_PROJECT R_LIBS R_LIBS_USER EMACSLOADPATH VIMRUNTIME
UV_INDEX UV_INSECURE_HOST PIP_TRUSTED_HOST PIP_CONFIG_FILE""".split()
HONEST = "LOG_LEVEL DEBUG NODE_ENV MIX_ENV AWS_REGION PROMPT LESSON CONFIG CCY GOAL RUST_LOG JAVASCRIPT R VIMEO MAKER QUERY_TEXT PORT DATABASE_URL".split()
MOST_ERRORS = 20  # that policyc shows
SECRETS = ("sk-host", "aws-host", "token-host", "key-of-the-host")


def made(module, host=None, **more):
    """The dict and the names that were left out."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = module.environment(home="/srv", host=HOST if host is None else host, **more)
    left = [name for w in caught for name in str(w.message).rpartition(": ")[2].split(", ")]
    check(all(w.category is RuntimeWarning for w in caught), "warnings: %s" % caught)
    return found, left


def refused(module, code, **more):
    try:
        module.environment(**dict({"home": "/srv", "host": HOST}, **more))
    except module.RefusedError as error:
        check(error.code == code and error.cls == "environment", "%s, not %s: %s" % (error.code, code, error))
        return str(error)
    check(False, "not refused: %s" % more)
    return ""


def listing(policyc, lines):
    """The names that `policyc list` gives for a block of these lines, with their rules."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "p.policy")
        with open(path, "w", encoding="utf-8") as file:
            file.write("policy p 1;\nenvironment e {\n%s\n}\n" % lines)
        status, out, messages = policyc.run("list", path)
    check(status == 0, "%s\n%s" % (lines, messages))
    return dict(re.findall(r"^inherit (\w+) where value (\w+)", out, re.M))


def errors(policyc, lines):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "p.policy")
        with open(path, "w", encoding="utf-8") as file:
            file.write("policy p 1;\nenvironment e {\n%s\n}\n" % lines)
        status, _, messages = policyc.run(path)
    check(status == 2, "compiles: %s" % lines)
    return messages


def verdict(policyc, lines):
    """The codes of the errors of a block of these lines."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "p.policy")
        with open(path, "w", encoding="utf-8") as file:
            file.write("policy p 1;\nenvironment e {\n%s\n}\n" % lines)
        _, _, messages = policyc.run(path, "-o", path[:-7] + ".c")
    return re.findall(r"\[(P\d+)\]", messages)


# ---- what is inherited


def nothing_is_inherited_by_default(shipped, child, policyc):
    found, left = made(shipped)
    check(found == {"PATH": "/usr/bin:/bin", "LANG": "en_US.UTF-8", "LC_CTYPE": "C.UTF-8", "HOME": "/srv"}, "%s" % found)
    check(left == [], "left out: %s" % left)
    check(made(shipped, host={})[0] == {"HOME": "/srv"}, "of an empty host")
    check(listing(policyc, "") == {}, "an empty block grants")


def the_standard_names(shipped, child, policyc):
    check(set(listing(policyc, "inherit base standard;")) == set(STANDARD), "the standard set")
    host = {name: {"PATH": "/bin", "TZ": "UTC", "TERM": "xterm"}.get(name, "C" if name.startswith(("LC_", "LANG")) else "/x") for name in STANDARD}
    host.update(NO_COLOR="1", FORCE_COLOR="1", CI="true", LC_PRIVATE_TOKEN="t", LC_="t", LANGX="t")
    found, left = made(shipped, host)
    check(set(found) == set(STANDARD) | {"HOME"} and left == [], "%s, left %s" % (sorted(set(found) ^ set(STANDARD)), left))


def own_names_add_or_replace(shipped, child, policyc):
    check(set(listing(policyc, "inherit base standard; inherit OWN;")) == set(STANDARD) | {"OWN"}, "beside the set")
    check(listing(policyc, "inherit OWN;") == {"OWN": "text"}, "in its place")
    check(set(listing(policyc, "inherit base standard; never LC_*, SSL_*;")) == {n for n in STANDARD if not n.startswith(("LC_", "SSL_"))}, "less some of it")
    check(listing(policyc, "inherit base user; inherit USER where value word;")["USER"] == "word", "an own rule wins over that of a set")


def honest_needs(shipped, child, policyc):
    host = {"HTTPS_PROXY": "http://proxy.example:3128", "http_proxy": "proxy:80", "NO_PROXY": "localhost,.example.com", "LANGUAGE": "de:en", "USER": "me", "LOGNAME": "me",
            "SHELL": "/bin/sh", "CURL_CA_BUNDLE": "/c", "GIT_SSL_CAINFO": "/g", "TMP": "/tmp", "TEMP": "/tmp", "COLUMNS": "80", "LINES": "24", "COLORTERM": "truecolor"}
    found, left = made(shipped, host)
    check(found == dict(host, HOME="/srv") and left == [], "%s, left %s" % (found, left))
    more = {"VIRTUAL_ENV": "/venv", "XDG_CACHE_HOME": "/c", "PIP_INDEX_URL": "https://pypi.example/simple", "GIT_AUTHOR_NAME": "A. U. Thor", "LD_LIBRARY_PATH": "/lib:/usr/lib"}
    found, left = made(child, more)
    check(all(found.get(name) == value for name, value in more.items()) and left == [], "%s, left %s" % (found, left))


def later_stages_win(shipped, child, policyc):
    found, _ = made(shipped, manifest={"LC_CTYPE": "de_DE.UTF-8", "TZ": "Europe/Berlin"})
    check(found["LC_CTYPE"] == "de_DE.UTF-8" and found["TZ"] == "Europe/Berlin", "the manifest wins over the host: %s" % found)
    check(found["HOME"] == "/srv" and list(found)[-1] == "HOME", "HOME is last")
    found, _ = made(child, {"PATH": "/bin", "EXACT": "host", "PYTHONDONTWRITEBYTECODE": "0", "EMPTY": "no"}, manifest={"PATH": "/opt"})
    check((found["PATH"], found["PYTHONDONTWRITEBYTECODE"], found["EMPTY"], found["LD_BIND_NOW"]) == ("/opt", "1", "", "1"), "what is set wins: %s" % found)
    refused(shipped, "R912", manifest={"HOME": "/root"})


def what_breaks_its_rule_is_left_out(shipped, child, policyc):
    host = {"PATH": "/bin:.", "TZ": ":/etc/localtime", "TERM": "../x", "LANG": "sk_live_51H", "LC_ALL": "/tmp/evil", "HTTP_PROXY": "http://me:secret@h", "USER": "a b",
            "COLUMNS": "-1", "TMPDIR": "tmp", "SSL_CERT_FILE": "x\ny", "NO_COLOR": "() { :; }"}
    found, left = made(shipped, host)
    check(found == {"HOME": "/srv"} and sorted(left) == sorted(host), "%s, left %s" % (found, left))
    check(made(child, {"CODE": "ABC"})[1] == ["CODE"] and made(child, {"CODE": "abc"})[0]["CODE"] == "abc", "a set of characters")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            shipped.environment(home="/srv", host=host)
            check(False, "no warning")
        except RuntimeWarning as warning:
            check("secret" not in str(warning) and "HTTP_PROXY" in str(warning), str(warning))


def credentials_in_urls(shipped, child, policyc):
    for value in ("https://user:key@pypi.example/simple", "https://key@pypi.example/simple", "https://pypi.example/simple?token=key", "https://pypi.example/#key"):
        for name in ("PIP_INDEX_URL", "UV_INDEX_URL", "HTTPS_PROXY", "PIP_EXTRA_INDEX_URL"):
            found, left = made(child, {name: value})
            check(name not in found and left == [name], "%s=%s" % (name, value))


# ---- manifests


def what_no_manifest_may_set(shipped, child, policyc):
    for name in ("PATH", "USER", "SSL_CERT_FILE", "UNKNOWN", "HTTP_PROXY"):
        refused(shipped, "R912", manifest={name: "/x"})
    for name in ("LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "PYTHONPATH", "PYTHONSTARTUP", "BASH_ENV", "ENV", "GIT_SSH_COMMAND", "NODE_OPTIONS", "PERL5OPT",
                 "GCONV_PATH", "BASH_FUNC_ls", "UPK_RESULT_FD", "GIT_CONFIG_COUNT", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN"):
        refused(shipped, "R913", manifest={name: "x"})
    for name in ("", "A=B", "A\0B", "1A", "A B", "\u00e9", "BASH_FUNC_ls%%"):
        refused(shipped, "R911", manifest={name: "x"})
    for name, value in (("LANG", "../x"), ("TZ", ":/etc/passwd"), ("TERM", "a/b"), ("CI", "a\0b"), ("CI", "\udcff"), ("LC_ALL", "x" * 200000)):
        refused(shipped, "R914", manifest={name: value})


def what_makes_programs_run_something_needs_a_reason(shipped, child, policyc):
    """Families of variables whose values name code, options that name it, or whom to trust."""
    lines = [line % name for name in DANGEROUS for line in ("manifest %s where value text;", "inherit %s;")]
    lines += ['manifest %s because "x";' % DANGEROUS[0], 'manifest OWN -> %s because "x";' % DANGEROUS[0]]
    for at in range(0, len(lines), MOST_ERRORS):
        some = lines[at : at + MOST_ERRORS]
        check(verdict(policyc, "".join(some)) == ["P0064"] * len(some), "of these: " + " ".join(some))
    check(verdict(policyc, "".join('inherit %s because "x";' % name for name in DANGEROUS)) == [], "with a reason")
    sets = {base: sorted(listing(policyc, "inherit base %s;" % base)) for base in "standard certificates git indexes python proxies".split()}
    check("CI" in sets["standard"] and "PIP_INDEX_URL" in sets["indexes"] and "npm_config_registry" in sets["indexes"], "%s" % sets)
    for base, names in sets.items():
        check(verdict(policyc, "manifest %s;" % ", ".join(names)) == [], "of base %s to a manifest" % base)
    check(verdict(policyc, "manifest %s;" % ", ".join(HONEST)) == [], "variables of programs' own")


def values_of_the_host_by_exact_pairs(shipped, child, policyc):
    found, _ = made(child, from_host={"API_KEY": "AGENT_KEY", "OTHER_KEY": "AGENT_KEY"})
    check(found["API_KEY"] == found["OTHER_KEY"] == "key-of-the-host" and "AGENT_KEY" not in found, "%s" % found)
    refused(child, "R916", from_host={"API_KEY": "OPENAI_API_KEY"})
    refused(child, "R916", from_host={"API_KEY": "API_KEY"})
    refused(child, "R916", from_host={"WORKSPACE_ID": "AGENT_KEY"})
    refused(child, "R912", from_host={"AGENT_KEY": "AGENT_KEY"})
    refused(child, "R912", manifest={"API_KEY": "of its own"})
    refused(child, "R912", manifest={"AGENT_KEY": "of its own"})
    refused(child, "R917", host={}, from_host={"API_KEY": "AGENT_KEY"})
    refused(child, "R914", host={"AGENT_KEY": "two\nlines"}, from_host={"API_KEY": "AGENT_KEY"})
    message = errors(policyc, 'manifest A -> X because "x"; manifest B -> X because "x";')
    check("[P0104]" in message, message)


def no_value_is_in_an_error(shipped, child, policyc):
    texts = [refused(child, "R914", manifest={"WORKSPACE_ID": "value of a manifest"}), refused(child, "R912", manifest={"API_KEY": "value of a manifest"}),
             refused(child, "R916", from_host={"API_KEY": "OPENAI_API_KEY"}), refused(child, "R911", manifest={"A=B": "value of a manifest"}),
             refused(shipped, "R913", manifest={"LD_PRELOAD": "value of a manifest"}), refused(child, "R919", home="relative/value")]
    texts.append(refused(child, "R914", host={"AGENT_KEY": "key-of-the-host\x1b"}, from_host={"API_KEY": "AGENT_KEY"}))
    check(not any(secret in text for secret in SECRETS + ("value of a manifest", "relative/value", "OPENAI") for text in texts), "\n".join(texts))
    check(len(refused(shipped, "R911", manifest={"x" * 100000: "v"})) < 500, "a long name is not cut")


# ---- arguments


def arguments_of_python(shipped, child, policyc):
    os.environ["TERM"], os.environ["OPENAI_API_KEY"] = "xterm", "sk-host"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = shipped.environment(home=pathlib.Path("/srv"))
    check(found["TERM"] == "xterm" and found["HOME"] == "/srv" and "OPENAI_API_KEY" not in found, "of this process: %s" % sorted(found))
    check(made(shipped, {b"PATH": b"/bin", "A=B": "x", "": "y", "LANG": "C"})[0] == {"PATH": "/bin", "LANG": "C", "HOME": "/srv"}, "bytes, and names that nothing has")
    done = subprocess.run([sys.executable, "-c", "import os; print(sorted(os.environ))"], env=dict(made(shipped)[0]), stdout=subprocess.PIPE)
    check(done.returncode == 0 and b"OPENAI" not in done.stdout and b"HOME" in done.stdout, "as env of a child: %s" % done.stdout)
    for kind, arguments in ((TypeError, {"manifest": []}), (TypeError, {"manifest": {"CI": 1}}), (TypeError, {"manifest": {1: "x"}}), (TypeError, {"host": 3}),
                            (TypeError, {"home": 3}), (ValueError, {"home": "/a\0b"}), (ValueError, {"host": {"PATH": "a\0b"}}), (TypeError, {"other": 1})):
        try:
            shipped.environment(**dict({"home": "/srv"}, **arguments))
            check(False, "takes %s" % arguments)
        except kind as error:
            check(True, str(error))
    refused(shipped, "R919", home=None)
    plain = shipped.Policy
    check("environment" in dir(plain) and "manifest" in plain.environment.__doc__, "help")


def mistakes_are_found_when_it_is_compiled(shipped, child, policyc):
    for lines, code, hint in (("inherit LC_*;", "P0101", "base locale"), ("inherit path;", "P0106", "PATH"), ('inherit "A=B";', "P0100", ""), ('inherit "";', "P0100", ""),
                              ('inherit "A\\x00";', "P0100", ""), ("inherit base local;", "P0102", "locale"), ("inherit A, A;", "P0104", ""),
                              ("inherit A_TOKEN; never *_TOKEN;", "P0105", ""), ("manifest LD_PRELOAD;", "P0064", ""), ('set TZ = ":x";', "P0107", "zone")):
        message = errors(policyc, lines)
        check("[%s]" % code in message and hint in message, "%s: %s" % (lines, message))


def a_policy_is_held_to_its_digest(shipped, child, policyc):
    """What a run is held to: another policy, or one that is weaker, has another."""
    digests = set()
    block, confined = "environment e { inherit %s; }\n", "confinement { linux %s; }\n"
    for text in ("", block % "A", block % "A, B", block % "base user", confined % "require", confined % "opt_in", block % "A" + confined % "opt_in"):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "p.policy")
            with open(path, "w", encoding="utf-8") as file:
                file.write("policy p 1;\n" + text)
            status, _, messages = policyc.run(path, "-o", path[:-7] + ".c")
            check(status == 0, messages)
            with open(path[:-7] + ".c", encoding="utf-8") as file:
                digests.add(re.search(r"\.run_digest = \{([^}]*)\}", file.read()).group(1))
    check(len(digests) == 7, "%d digests" % len(digests))


def differences_are_graded(shipped, child, policyc):
    cases = (("inherit A;", "inherit A, B;", 1, "medium widened environment B: was nothing, is inherit B where value text."),
             ("inherit A, B;", "inherit A;", 0, "low narrowed environment B"), ("inherit A;", "manifest A; inherit A;", 1, "medium widened environment A"),
             ("inherit A where value max 3;", "inherit A where value max 4;", 1, "was inherit A where value text max 3, is inherit A where value text max 4"),
             ("inherit A;", "inherit A where value locale;", 0, "low narrowed environment A"), ("inherit A;", 'inherit A where value chars "ab";', 0, "low narrowed"),
             ('inherit A where value chars "a-c";', 'inherit A where value chars "b-d";', 1, "medium changed environment A"),
             ('set A = "1";', 'set A = "2";', 1, "medium changed environment A"), ("", 'manifest S -> A because "x";', 1, "high widened environment A"),
             ("", 'inherit LD_PRELOAD because "x";', 1, "high widened environment LD_PRELOAD"), ("never A*;", "never B*;", 0, "child: same"),
             ("", "home workspace;", 1, "medium changed environment home"))
    confinements = (("", "linux opt_in;", 1, "high widened confinement linux: was require, is opt_in."), ("linux opt_in;", "", 0, "low narrowed confinement linux"),
                    ("", 'network because "x";', 1, "high widened confinement network: was none, is granted."), ("", "budget wall 61;", 1, "low widened confinement budget wall: was 60, is 61."))
    for block, all_of_it in (("environment e", cases), ("confinement", confinements)):
        for old, new, status, line in all_of_it:
            with tempfile.TemporaryDirectory() as folder:
                paths = [os.path.join(folder, name) for name in ("old.policy", "new.policy")]
                for path, lines in zip(paths, (old, new)):
                    with open(path, "w", encoding="utf-8") as file:
                        file.write("policy p 1;\n%s { %s }\n" % (block, lines))
                got, out, messages = policyc.run("diff", *paths)
            check(got == status and line in out, "%s -> %s: %d\n%s%s" % (old, new, got, out, messages))


def the_listing_is_the_language(shipped, child, policyc):
    """What `policyc list` says of both blocks, read as a policy, is listed the same."""
    for path in GUARDS.values():
        texts = []
        for _ in range(2):
            status, out, messages = policyc.run("list", path) if not texts else policyc.run("list", texts[-1][1])
            check(status == 0, messages)
            bare = [re.sub(r"  # .*$", "", line) for line in out.partition("\nenvironment ")[2].splitlines()]
            lines = ["environment " + bare[0] + " {"] + [line + ";" if line else "}" for line in bare[1:]] + ["}"]
            text = "policy p 1;\n" + "\n".join(line[:-1] + " {" if line == "confinement;" else line for line in lines) + "\n"
            with tempfile.NamedTemporaryFile("w", suffix=".policy", delete=False) as file:
                file.write(text)
            texts.append((text, file.name))
        for _, name in texts:
            os.unlink(name)
        check(texts[0][0] == texts[1][0], "%s: listed otherwise:\n%s" % (path, texts[0][0]))


def the_page_lists_what_there_is(shipped, child, policyc):
    with open("docs/environment.md", encoding="utf-8") as file:
        page = file.read()
    with open("compiler/environment_words.h", encoding="utf-8") as file:
        sets = re.findall(r"X\(\w+, (\w+)\)", file.read().partition("#define ENV_BASES(X)")[2].partition("enum env_base")[0])
    with open("runtime/upk_tables.h", encoding="utf-8") as file:
        rules = re.findall(r"X\(\w+, (\w+)\)", file.read().partition("#define UPK_ENV_RULES(X)")[2].partition("enum upk_env_rule_kind")[0])
    with open("compiler/environment_words.c", encoding="utf-8") as file:
        nevers = re.findall(r'\{"(\w+)", UPK_ENV_NEVER_(\w+)\}', file.read())
    check(len(sets) > 5 and len(rules) > 10 and len(nevers) > 100, "the tables are not found")
    for name in sets:
        row = re.search(r"^\| `%s` \| (.*) \|$" % name, page.partition("## Base sets")[2], re.M)
        check(row and set(row.group(1).split()) == set(listing(policyc, "inherit base %s;" % name)), "docs/environment.md: base set %s" % name)
    check(re.findall(r"^\| `(\w+)` \|", page.partition("## Rules of values")[2].partition("## ")[0], re.M) == rules, "docs/environment.md: rules")
    named = re.findall(r"`([\w*]+)`", page.partition("## What no child gets")[2].partition("## ")[0].partition("\n\n")[2].partition("\n\n")[2])
    check(named == ["*" * (kind == "SUFFIX") + name + "*" * (kind == "PREFIX") for name, kind in nevers], "docs/environment.md: what no child gets")


def main():
    build = sys.argv[1]
    tally.run((nothing_is_inherited_by_default, the_standard_names, own_names_add_or_replace, honest_needs, later_stages_win, what_breaks_its_rule_is_left_out,
               credentials_in_urls, what_no_manifest_may_set,
               what_makes_programs_run_something_needs_a_reason, values_of_the_host_by_exact_pairs, no_value_is_in_an_error, arguments_of_python,
               mistakes_are_found_when_it_is_compiled, a_policy_is_held_to_its_digest, differences_are_graded, the_listing_is_the_language, the_page_lists_what_there_is),
              guard(build, "environment_guard"), guard(build, "child_guard"), Policyc(build))
    run_by_others(check, build, __file__, GUARDS)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
