# From the shipped fragments to a C table of what they grant, for hints: FRAGMENT(file, name) and CLASS(module,
# class, file).  Rows that only mention a class (`ref') and consts are no types, and are left out.
function emit_class(name) { classes[n_classes++] = "CLASS(\"" module "\", \"" name "\", \"" file "\")" }
function flush_names(i) {
    if (!only_ref) for (i = 0; i < n_names; i++) emit_class(names[i])
    n_names = 0
}
FNR == 1 {
    file = FILENAME
    sub(/^.*policies\//, "", file)
    depth = 0; state = ""
}
{
    sub(/#.*/, "")
    while (match($0, /"[^"]*"|[A-Za-z0-9_.]+|[{};]/)) {
        word = substr($0, RSTART, RLENGTH)
        $0 = substr($0, RSTART + RLENGTH)
        if (state == "fragment") { fragments[n_fragments++] = "FRAGMENT(\"" file "\", \"" word "\")"; state = "" }
        else if (state == "module") { module = word; state = "" }
        else if (state == "names" && word == "{") { state = "set" }
        else if (state == "names") { names[n_names++] = word; state = "maker" }
        else if (state == "set" && word == "}") { state = "maker" }
        else if (state == "set") { names[n_names++] = word }
        else {
            if (state == "maker") { only_ref = word == "ref"; state = "row" }
            else if (state == "row" && word != ";") only_ref = 0
            if (word == "{") depth++
            else if (word == "}") depth--
            else if (word == ";" && depth <= 1) { flush_names(); state = "start" }
            else if (depth == 0 && (word == "fragment" || word == "module")) state = word
            else if (depth == 1 && (state == "start" || state == "") && word ~ /^(class|dataclass|namedtuple|enum|flag|exception|pydantic)$/)
                state = "names"
            else if (depth == 1 && state == "") state = "other"
            if (word == "{" && depth == 1 && state == "") state = "start"
        }
    }
}
END {
    for (i = 0; i < n_fragments; i++) print fragments[i]
    for (i = 0; i < n_classes; i++) print classes[i]
}
