/* Layer: see shipped.h.  tests/run_policy_tests.py holds the table against policies/std. */
#include "shipped.h"

#include <string.h>

static const struct {
    const char *module, *fragment;
} SHIPPED[] = {
    {"collections", "collections"}, {"datetime", "datetime"}, {"decimal", "numbers"},
    {"fractions", "numbers"},       {"ipaddress", "ids"},     {"pathlib", "ids"},
    {"time", "datetime"},           {"types", "collections"}, {"uuid", "ids"},
    {"zoneinfo", "datetime"},
};

static const char *const FRAGMENTS[] = {"collections", "datetime", "ids", "numbers", "plain"};

const char *shipped_of_module(struct text module) {
    for (size_t i = 0; i < sizeof SHIPPED / sizeof SHIPPED[0]; i++) {
        if (text_is(module, SHIPPED[i].module)) {
            return SHIPPED[i].fragment;
        }
    }
    return NULL;
}

const char *shipped_of_name(struct text name) {
    if (name.len > 4 && memcmp(name.at, "std.", 4) == 0) {
        name = (struct text){name.at + 4, name.len - 4};
    }
    for (size_t i = 0; i < sizeof FRAGMENTS / sizeof FRAGMENTS[0]; i++) {
        if (text_is(name, FRAGMENTS[i])) {
            return FRAGMENTS[i];
        }
    }
    return NULL;
}
