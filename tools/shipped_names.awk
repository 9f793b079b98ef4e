# From the shipped fragments to a C table of what they grant, for hints: FRAGMENT(file, name); ROW(module, name, file) for each
# name that has a row; CLASS(module, class, file) for each class that some row makes: by `call' or `new', behind `->' of a
# function, or with a template; and NEED(file, file) where a fragment names what the other one makes, or the other one itself.
#
# policyc itself cannot be asked, because the table is a part of it.  So its tokens are read here once more (grammar/policy.l:
# comments, strings, words with their dots, marks), and of its grammar no more than where a row begins, what it names, and how
# it makes it.  A test holds the table against what `policyc list' says of each fragment.

function add_class(in_module, name,    line) {
    line = "CLASS(\"" in_module "\", \"" name "\", \"" file "\")"
    if (!(line in known)) { known[line]; classes[n_classes++] = line }
    own[file, in_module "::" name]
    if (!(in_module "::" name in maker)) maker[in_module "::" name] = file
}

# What stands in the file by that name, whatever for.
function mention(name) { mentions[n_mentions] = name; mentioned_in[n_mentions++] = file }

function print_needs(    i, name, from, line) {
    for (i = 0; i < n_mentions; i++) {
        name = mentions[i]
        from = name in fragment_file ? fragment_file[name] : maker[name]
        line = "NEED(\"" mentioned_in[i] "\", \"" from "\")"
        if (from == "" || from == mentioned_in[i] || (mentioned_in[i], name) in own || line in known) continue
        known[line]
        print line
    }
}

# The next token of the line; empty: there is none.  A string comes without its quotes, and `quoted' is set.
function next_token(    token) {
    quoted = 0
    sub(/^[ \t\r]+/, "", rest)
    if (rest == "" || rest ~ /^#/) return ""
    if (match(rest, /^b?"([^"\\]|\\.)*"/)) quoted = 1
    else if (!match(rest, /^(->|::|[A-Za-z0-9_.]+)/)) match(rest, /^./)
    token = substr(rest, 1, RLENGTH)
    rest = substr(rest, RLENGTH + 1)
    return quoted ? substr(token, index(token, "\"") + 1, length(token) - index(token, "\"") - 1) : token
}

function end_row(    i) {
    for (i = 0; i < n_names && makes; i++) add_class(module, names[i])
    for (i = 0; i < n_names; i++) rows[n_rows++] = "ROW(\"" module "\", \"" names[i] "\", \"" file "\")"
    n_names = makes = 0
    state = "row"
}

function mark(token) { return !quoted && word == token }

# One token.  Brackets within a row hold its types; only the row's own words count.
function take() {
    if (state == "fragment") { fragment_file[word] = file; fragments[n_fragments++] = "FRAGMENT(\"" file "\", \"" word "\")"; state = "" }
    else if (state == "module") { module = word; state = "in module" }
    else if (state == "in module") { if (mark("{")) state = "row" }
    else if (state == "row" && mark("}")) state = ""
    else if (state == "row" && mark("subclasses")) { row = word; state = "makers" } # of any name
    else if (state == "row") { row = word; state = "names"; makes = word !~ /^(class|func|const)$/ }
    else if (state == "names" && mark("{") && n_names == 0) state = "set"
    else if (state == "names") { names[n_names++] = word; state = "makers" }
    else if (state == "set" && mark("}")) state = "makers"
    else if (state == "set") { if (!mark(",")) names[n_names++] = word }
    else if (state == "result") { result_module = word; state = "::" }
    else if (state == "::") state = "result class"
    else if (state == "result class") { add_class(result_module, word); state = "makers" }
    else if (state == "makers") {
        if (depth == 0 && mark(";")) end_row()
        else if (depth == 0 && row == "const" && mark(",")) state = "names"
        else if (word ~ /^[({\[]$/ && !quoted) depth++
        else if (word ~ /^[)}\]]$/ && !quoted) depth--
        else if (depth == 0 && mark("->")) state = "result"
        else if (depth == 0 && row == "class" && (mark("call") || mark("new"))) makes = 1
    }
    else if (mark(";")) state = ""
    else if (state == "" && (mark("fragment") || mark("module") || mark("never"))) state = word
    else if (state == "") state = "other"
}

FNR == 1 {
    file = FILENAME
    sub(/^.*policies\//, "", file)
    state = ""
    depth = 0
}
{
    rest = $0
    while ((word = next_token()) != "" || quoted) {
        if (state != "never") mention(before == "::" ? before_that "::" word : word)
        before_that = before
        before = word
        take()
    }
}
# The four are macros of who includes the table: those that he leaves out are empty, and all of them are his for once.
function print_around(what,    i, n, names) {
    n = split("FRAGMENT(file, name)|ROW(module, name, file)|CLASS(module, name, file)|NEED(file, other)", names, "|")
    for (i = 1; i <= n; i++) {
        if (what == "before") print "#ifndef " substr(names[i], 1, index(names[i], "(") - 1) "\n#define " names[i] "\n#endif"
        else print "#undef " substr(names[i], 1, index(names[i], "(") - 1)
    }
}

END {
    print_around("before")
    for (i = 0; i < n_fragments; i++) print fragments[i]
    for (i = 0; i < n_rows; i++) print rows[i]
    for (i = 0; i < n_classes; i++) print classes[i]
    print_needs()
    print_around("behind")
}
