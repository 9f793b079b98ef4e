/* Verdicts as JSON, for what reads logs.
 *
 * Layer: hosts; see cli.h.  libupk keeps its own escaping to itself, and what is written here are texts of errors and names of
 * files, not values.
 */
#include <inttypes.h>
#include <string.h>

#include "../compiler/unicode.h"
#include "cli.h"

static void write_code(uint32_t code, FILE *to) {
    if (code == '"' || code == '\\')
        fprintf(to, "\\%c", (char)code);
    else if (code >= 0x20 && code < 0x7f)
        fputc((char)code, to);
    else if (code < 0x10000)
        fprintf(to, "\\u%04" PRIx32, code);
    else
        fprintf(to, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
}

void cli_write_json_string(const char *text, FILE *to) {
    const char *end = text + strlen(text);
    fputc('"', to);
    while (text < end) {
        uint32_t code;
        size_t n = utf8_decode(text, (size_t)(end - text), &code);
        if (n == 0) {
            code = 0xdc00u + (unsigned char)*text;
            n = 1;
        }
        write_code(code, to);
        text += n;
    }
    fputc('"', to);
}

static void write_member(const char *name, const char *text, FILE *to) {
    fprintf(to, ", \"%s\": ", name);
    cli_write_json_string(text, to);
}

void cli_write_json_verdict(const char *file, const char *verdict, FILE *to) {
    fputs("{\"file\": ", to);
    cli_write_json_string(file, to);
    write_member("verdict", verdict, to);
}

void cli_write_json_refusal(const struct upk_error *err, const char *shipped, FILE *to) {
    char message[2048], grant[1024];
    upk_error_message(err, message, sizeof message);
    upk_error_grant(err, grant, sizeof grant);
    write_member("class", upk_class_word(err->cls), to);
    fprintf(to, ", \"code\": \"R%u\", \"offset\": %" PRIu64, (unsigned)err->code, err->offset);
    write_member("opcode", err->opcode ? upk_op_name(err->opcode) : "", to);
    write_member("module", err->module, to);
    write_member("name", err->name, to);
    write_member("path", err->path, to);
    write_member("policy", err->policy, to);
    write_member("rule", err->rule, to);
    write_member("message", message, to);
    write_member("change", err->change, to);
    write_member("grant", shipped ? "" : grant, to);
    write_member("shipped", shipped ? shipped : "", to);
}
