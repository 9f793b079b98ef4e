"""What refusals advise, carried out in the text of a policy: rows pasted, fragments included, settings changed, and the row that is to
change made open for the name; of a shipped file in a copy, as the advice says.
"""
import os
import re

OPEN = ("type Advised = any | buffer | persid<Advised> | list<Advised> | tuple<Advised...> | dict<Advised, Advised> | set<Advised>"
        " | frozenset<Advised>%s;\n")
STEPS = " state? Advised items Advised pairs Advised: Advised adds Advised because \"test\""
STEP = {"state": "state any", "items": "items any", "pairs": "pairs any: any", "adds": "adds any"}
FOUND_NAME = re.compile(r"found the name ([\w.]+::[\w.]+)")


class CannotError(Exception):
    """The advice is none that is known here."""


class Files:
    """The policy's files by name: the main one, and what it includes of the user's own."""

    def __init__(self, main, texts, shipped="policies"):
        self.main, self.texts, self.shipped = main, dict(texts), shipped

    def edit(self, name, found, instead, count=1):
        text, n = re.subn(found, instead, self.texts[name], count=count, flags=re.M)
        if n == 0:
            raise CannotError("%s: nothing like %s" % (name, found))
        self.texts[name] = text

    def add(self, text):
        self.texts[self.main] += text

    def write(self, folder):
        for name, text in self.texts.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)


def rows_of(text):
    """(from, to, module) of each row: what ends in `;` between the braces of a `module`."""
    at, depth, start, module = 0, 0, None, None
    tokens = re.compile(r'#[^\n]*|"(?:\\.|[^"\\\n])*"|\bmodule\s+("?[\w.]+"?)(?:\s+import)?\s*\{|[{};]|\S')
    for match in tokens.finditer(text):
        token = match.group()
        at = match.start()
        if token.startswith("#"):
            continue
        if depth == 0:
            if match.group(1):
                module, depth, start = match.group(1), 1, None
            elif token == "{":
                depth, module = 1, None
            continue
        if start is None and token != "}":
            start = at
        depth += {"{": 1, "}": -1}.get(token, 0)
        if module and token == ";" and depth == 1:
            yield start, at + 1, module
            start = None
    return


def open_row(files, name, line, wanted, refusal):
    """Instead of the row at that line one that takes anything, for the name alone."""
    text = files.texts[name]
    module, _, qualname = wanted.partition("::")
    for start, end, of in rows_of(text):
        first, last = text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1
        if not first <= line <= last or of.strip('"') != module:
            continue
        row = text[start:end]
        result = re.search(r"->\s*([\w.]+::[\w.]+)", row)
        found = FOUND_NAME.search(refusal)
        kind = " ".join(row.split()[:1])
        others = re.sub(r"(?<![\w.])%s(?![\w.])\s*,?|,\s*(?<![\w.])%s(?=\s*\})" % (re.escape(qualname), re.escape(qualname)), "", row, count=1)
        others = others if re.match(r"(class|func|const)\s*\{", row) and re.match(r"\w+\s*\{\s*[\w.]", others) else ""
        if kind == "func" and result:
            own = "func %s(a: Advised...) -> %s%s;" % (qualname, result.group(1), STEPS)
        else:
            own = "class %s call(a: Advised...)%s | new(a: Advised...) kw { *: Advised }%s | new(a: Advised...)%s%s;" % (
                qualname, STEPS, STEPS, STEPS, " | ref" if re.search(r"\bref;", row) else "")
        files.texts[name] = text[:start] + own + " " + others + text[end:]
        if found:
            allow_name(files, found.group(1))
        if "type Advised" not in files.texts[name]:
            files.texts[name] += OPEN % (" | ref " + found.group(1) if found else "")
        return
    raise CannotError("no row at %s:%d" % (name, line))


def copy_shipped(files, advice):
    """The copy that the advice speaks of, in the place of the fragment: (what is to change, the copy's name)."""
    match = re.match(r"(.*); (\w+/([\w-]+\.policy)) is shipped: change a copy, and in (\S+) say `(include \"([\w-]+\.policy)\";)` for "
                     r"`(include \"[\w/-]+\.policy\";)`$", advice)
    if not match:
        return advice, None
    what, shipped, own, main, instead, copy, found = match.groups()
    if main != files.main or own != copy:
        raise CannotError(advice)
    with open(os.path.join(files.shipped, shipped), encoding="utf-8") as file:
        files.texts[copy] = file.read()
    files.edit(main, re.escape(found), instead)
    return what, copy


def set_words(files, keyword, channel, change):
    """The setting in the channel and in the policy, each where it is."""
    places = [r"(^channel %s \{[^}]*?\b%s\b\s*)([^;]*)(;)" % (channel, keyword)] if channel else []
    places.append(r"(^%s\b\s*)([^;]*)(;)" % keyword)
    done = False
    for place in places:
        text = files.texts[files.main]
        match = re.search(place, text, re.M)
        if match:
            files.texts[files.main] = text[:match.start(2)] + change(match.group(2)) + text[match.end(2):]
            done = True
    if not done:
        files.add("%s %s;\n" % (keyword, change({"opcodes": "core"}.get(keyword, ""))))


def allow_name(files, found):
    """Such a name may stand as a value then: its row, or another one in this file, says so."""
    module, _, qualname = found.partition("::")
    text = files.texts[files.main]
    for start, end, of in rows_of(text):
        if of == module and re.match(r"\w+ %s\b" % re.escape(qualname), text[start:end]):
            files.texts[files.main] = text[:end - 1] + " | ref;" + text[end:]
            return
    files.add("module %s { class %s ref; }\n" % (module, qualname))


def change_root(files, channel, refusal):
    found = FOUND_NAME.search(refusal)
    if found:
        allow_name(files, found.group(1))
    root = "Advised cyclic" if channel or "cyclic" in files.texts[files.main] else "Advised"
    files.edit(files.main, (r"(^channel %s \{[^}]*?\broot\b\s*)[^;]*;" % channel) if channel else r"(^root\s+)[^;]*;", r"\1%s;" % root)
    if "type Advised" not in files.texts[files.main]:
        files.add(OPEN % (" | ref " + found.group(1) if found else ""))


def change(files, advice, refusal):
    what, copy = copy_shipped(files, advice)
    channel = (re.search(r" of channel (\w+)", what) or [None, None])[1]
    name = re.search(r"refused: ([\w.<>]+::[\w.<>]+): ", refusal)
    match = re.match(r"raise `budget (\w+)` from (\d+) to at least (\d+)", what)
    if match and "in the row" not in what:
        word, _, figure = match.groups()
        set_words(files, "budget", channel, lambda text: re.sub(r"\b%s [\d_]+\w*" % word, "", text).strip(" ,").replace(", ,", ",")
                  + (", " if re.sub(r"\b%s [\d_]+\w*" % word, "", text).strip(" ,") else "") + "%s %s" % (word, figure))
        return
    match = re.match(r"allow (\w+) in `opcodes`", what)
    if match:
        word = match.group(1)
        set_words(files, "opcodes", channel, lambda text: re.sub(r",\s*%s\b| except %s$" % (word, word), "", text)
                  if "except" in text and word in text else text.replace("core", "core, " + word, 1))
        return
    match = re.match(r"widen `protocol [\d.]+` to `([\d.]+)`", what) or re.match(r"`protocol ([\d.]+)`", what)
    if match:
        set_words(files, "protocol", channel, lambda text: match.group(1))
        return
    if what.startswith("add `cyclic` behind the type of `root`"):
        files.edit(files.main, (r"(^channel %s \{[^}]*?\broot\b[^;]*);" % channel) if channel else r"(^root[^;]*);", r"\1 cyclic;")
        return
    if re.search(r"the type of `root`", what):
        change_root(files, channel, refusal)
        return
    match = re.search(r" at ([\w./-]+):(\d+)", what)
    if not match:
        raise CannotError(advice)
    file, line = copy or match.group(1), int(match.group(2))
    member = re.match(r"add `(\w+)` to the members of `([\w.]+)::([\w.]+)`", what)
    step = re.match(r"add `(\w+)` to the row at ", what)
    calls = re.match(r"raise `budget calls` from (\d+) to at least (\d+) in the row at", what)
    lines = files.texts[file].split("\n")
    if member:
        lines[line - 1] = re.sub(r"(%s\s*\{)" % re.escape(member.group(3)), r"\1 %s = 99," % member.group(1), lines[line - 1], count=1)
        files.texts[file] = "\n".join(lines)
    elif calls:
        lines[line - 1] = re.sub(r"\bbudget calls %s\b" % calls.group(1), "budget calls " + calls.group(2), lines[line - 1])
        files.texts[file] = "\n".join(lines)
    elif step and re.search(r"\(.*\);", lines[line - 1]):
        lines[line - 1] = re.sub(r"(\([^;]*\)[^;]*);", r'\1 %s because "test";' % STEP[step.group(1)], lines[line - 1], count=1)
        files.texts[file] = "\n".join(lines)
    elif what.startswith("add the attributes, `{ name: T }`, to the template at "):
        names = "x?: any, note?: any, code?: any"
        lines[line - 1] = re.sub(r"(exception [\w.]+\([^)]*\));", r'\1 { %s } because "test";' % names, lines[line - 1], count=1)
        files.texts[file] = "\n".join(lines)
    elif name:
        open_row(files, file, line, name.group(1), refusal)
    else:
        raise CannotError(advice)


def carry_out(files, kind, advice, refusal):
    """Changes the files as the line says."""
    if kind == "grant":
        files.add(advice + "\n")
    elif kind == "shipped":
        match = re.match(r"((?:include \"[^\"]+\"; )*)(?:channel (\w+) \{ )?use ([^;]+);(?: \})?$", advice)
        if not match:
            raise CannotError(advice)
        includes, channel, used = match.groups()
        files.edit(files.main, r"\A(policy [^\n]*\n)", r"\1%s\n" % includes)
        if channel:
            files.edit(files.main, r"(^channel %s \{)" % channel, r"\1 use %s;" % used)
        else:
            files.add("use %s;\n" % used)
    else:
        change(files, advice, refusal)
