/* Getters of dates, durations, decimals, UUIDs and arrays: what they give, and to what they give nothing.
 *
 * Layer: tests of the runtime's public interface, over policies that the compiler makes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../runtime/upk.h"
#include "compiled.h"
#include "documents.h"

static const char policy_text[] =
    "policy g 1; opcodes core, python2, buffer; protocol 0..5;\n"
    "module datetime {\n"
    "    class date call(packed: bytes[4]) check datetime_bytes;\n"
    "    class time call(packed: bytes, tz?: any) because \"test\";\n"
    "    class datetime call(packed: bytes[10], tz?: any) because \"test\" check datetime_bytes;\n"
    "    class timedelta call(days: int, seconds: int, us: int);\n"
    "    class timezone call(offset: datetime::timedelta);\n"
    "}\n"
    "module decimal { class Decimal call(text: str); }\n"
    "module uuid { class UUID new() state { int: int, is_safe?: int }; }\n"
    "module m { class date call(packed: bytes[4]); class UUID new() state { int: int }; class Decimal "
    "call(text: str); }\n"
    "module numpy {\n"
    "    class dtype call(code: str, align: false, copy: true) state any because \"test\" check npdtype;\n"
    "    class ndarray ref;\n"
    "}\n"
    "module numpy._core.multiarray {\n"
    "    func _reconstruct(cls: ref numpy::ndarray, shape: tuple<0>, code: b\"b\") -> numpy::ndarray state "
    "any\n"
    "        because \"test\" check ndarray;\n"
    "    func unchecked(cls: ref numpy::ndarray, shape: tuple<0>, code: b\"b\") -> numpy::ndarray state any\n"
    "        because \"test\";\n"
    "    func scalar(dtype: numpy::dtype, data: bytes) -> numpy::generic because \"test\" check npscalar;\n"
    "}\n"
    "module numpy._core.numeric {\n"
    "    func _frombuffer(data: bytes | buffer, dtype: numpy::dtype, shape: tuple<int...>, order: str) -> "
    "numpy::ndarray\n"
    "        because \"test\" check frombuffer;\n"
    "}\n"
    "root any cyclic;";

#define SCOPE "\x80\x05"

/* The one value of a stream, whose document lives until the next one or the end. */
struct opened {
    struct upk_doc *doc;
    struct upk_value v;
};

static const struct upk_policy *policy;

static int set_up(void **state) {
    (void)trial_set_up(state);
    policy = trial_policy(*state, policy_text);
    return 0;
}

static struct opened open_bytes(const char *bytes, size_t len, const struct upk_options *options) {
    struct opened o = {.doc = decode(policy, bytes, len, options)};
    o.v = upk_doc_root(o.doc);
    return o;
}

#define OPEN(literal) open_bytes(SCOPE literal ".", sizeof(SCOPE literal ".") - 1, NULL)

static void close_doc(struct opened o) { upk_doc_free(o.doc); }

/* Which getters give something, a letter each; the others must leave what they are given as it was. */
static void assert_is(struct opened o, const char *expected) {
    char found[6] = "";
    size_t n = 0, len = 77;
    struct upk_datetime moment = {.year = 77};
    struct upk_timedelta span = {.days = 77};
    struct upk_ndarray array = {.ndim = 77};
    const char *text = "unset";
    uint8_t uuid[16] = {77};
    if (upk_get_datetime(o.doc, o.v, &moment)) found[n++] = 'd';
    if (upk_get_timedelta(o.doc, o.v, &span)) found[n++] = 's';
    if (upk_get_decimal(o.doc, o.v, &text, &len)) found[n++] = 'n';
    if (upk_get_uuid(o.doc, o.v, uuid)) found[n++] = 'u';
    if (upk_get_ndarray(o.doc, o.v, &array)) found[n++] = 'a';
    assert_string_equal(found, expected);
    if (*expected != 'd') assert_int_equal(moment.year, 77);
    if (*expected != 's') assert_int_equal(span.days, 77);
    if (*expected != 'n') assert_int_equal(len, 77);
    if (*expected != 'u') assert_int_equal(uuid[0], 77);
    if (*expected != 'a') assert_int_equal(array.ndim, 77);
}

/* ---- dates and times */

#define DATE(class, packed) "c" class "\ndate\nC\x04" packed "\x85R"
#define TIME(packed, more)  "cdatetime\ntime\n(C\x06" packed more "tR"
#define BOTH(packed, more)  "cdatetime\ndatetime\n(C\x0a" packed more "tR"
#define SPAN                                  \
    "cdatetime\ntimedelta\nJ\xff\xff\xff\xff" \
    "K\x02K\x03\x87R"

static void dates_have_their_parts(void **state) {
    (void)state;
    struct upk_datetime d;
    struct opened o = OPEN(DATE("datetime", "\x07\xe8\x02\x1d"));
    assert_is(o, "d");
    assert_true(upk_get_datetime(o.doc, o.v, &d));
    assert_true(d.has_date && !d.has_time && d.year == 2024 && d.month == 2 && d.day == 29);
    assert_true(d.hour == 0 && d.microsecond == 0 && d.fold == 0 && upk_is(d.zone, UPK_NONE));
    close_doc(o);
    o = OPEN(TIME("\x97\x3b\x3a\x01\x02\x03", ""));
    assert_is(o, "d");
    assert_true(upk_get_datetime(o.doc, o.v, &d));
    assert_true(!d.has_date && d.has_time && d.year == 0 && d.hour == 23 && d.minute == 59 && d.second == 58);
    assert_true(d.microsecond == 0x010203 && d.fold == 1 && upk_is(d.zone, UPK_NONE));
    close_doc(o);
    o = OPEN(BOTH("\x07\xe8\x82\x1d\x17\x3b\x3a\x00\x00\x05", "cdatetime\ntimezone\n" SPAN "\x85R"));
    assert_is(o, "d");
    assert_true(upk_get_datetime(o.doc, o.v, &d));
    assert_true(d.has_date && d.has_time && d.year == 2024 && d.month == 2 && d.day == 29 && d.hour == 23);
    assert_true(d.minute == 59 && d.second == 58 && d.microsecond == 5 && d.fold == 1);
    struct upk_value args, offset = {.kind = UPK_INVALID};
    assert_true(upk_object_args(d.zone, &args) && upk_at(args, 0, &offset));
    struct upk_timedelta s;
    assert_true(upk_get_timedelta(o.doc, offset, &s));
    assert_true(s.days == -1 && s.seconds == 2 && s.microseconds == 3);
    close_doc(o);
}

static void what_is_no_date_is_none(void **state) {
    (void)state;
    static const struct {
        const char *stream;
        size_t len;
    } others[] = {
#define OTHER(literal) {SCOPE literal ".", sizeof(SCOPE literal ".") - 1}
        OTHER("C\x04\x07\xe8\x02\x1d"),                       /* bytes that look like one */
        OTHER(DATE("m", "\x07\xe8\x02\x1d")),                 /* another class of the name */
        OTHER(TIME("\x18\x00\x00\x00\x00\x00", "")),          /* hour 24: its row has no check */
        OTHER("cdatetime\ntime\nC\x04\x01\x02\x03\x04\x85R"), /* too short */
        OTHER("cdatetime\ntimedelta\nK\0J\xff\xff\xff\xffK\0\x87R"),
        OTHER("cdatetime\ntimedelta\nJ\0\xca\x9a\x3bK\0K\0\x87R"), /* 10^9 days */
        OTHER("cdecimal\nDecimal\n\x8c\0\x85R"),
        OTHER("cdecimal\nDecimal\n\x8c\x01x\x85R"),
        OTHER("cm\nDecimal\n\x8c\x01"
              "1\x85R"),
        OTHER("cm\nUUID\n)\x81}\x8c\x03intK\x05sb"),
        OTHER("cuuid\nUUID\n)\x81}\x8c\x03intJ\xff\xff\xff\xffsb"),                            /* below 0 */
        OTHER("cuuid\nUUID\n)\x81}\x8c\x03int\x8a\x11\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01sb"), /* 2^128 */
        OTHER("]"),
        OTHER("N"),
        OTHER("}"),
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct opened o = {.doc = decode(policy, others[i].stream, others[i].len, NULL)};
        o.v = upk_doc_root(o.doc);
        assert_is(o, "");
        close_doc(o);
    }
}

/* Without a policy the name in the stream is the class; arrays are none, for no check has proved them. */
static void inspected_documents_have_dates(void **state) {
    (void)state;
    struct opened o = {.doc = DECODE(NULL, SCOPE DATE("datetime", "\x07\xe8\x02\x1d") ".")};
    o.v = upk_doc_root(o.doc);
    assert_is(o, "d");
    close_doc(o);
}

static void decimals_have_their_text(void **state) {
    (void)state;
    const char *text;
    size_t len;
    struct opened o = OPEN("cdecimal\nDecimal\n\x8c\x06-1E+03\x85R");
    assert_is(o, "n");
    assert_true(upk_get_decimal(o.doc, o.v, &text, &len));
    assert_text(text, len, "-1E+03");
    close_doc(o);
}

static void uuids_have_16_bytes(void **state) {
    (void)state;
    uint8_t uuid[16];
    static const uint8_t five[16] = {[15] = 5}, most[16] = {0xff, 0xee, 0xdd, [14] = 2, [15] = 1};
    struct opened o = OPEN("cuuid\nUUID\n)\x81}\x8c\x03intK\x05sb");
    assert_is(o, "u");
    assert_true(upk_get_uuid(o.doc, o.v, uuid));
    assert_memory_equal(uuid, five, 16);
    close_doc(o);
    o = OPEN("cuuid\nUUID\n)\x81}(\x8c\x07is_safeK\0\x8c\x03int"
             "\x8a\x11\x01\x02\0\0\0\0\0\0\0\0\0\0\0\xdd\xee\xff\0ub");
    assert_true(upk_get_uuid(o.doc, o.v, uuid));
    assert_memory_equal(uuid, most, 16);
    close_doc(o);
}

/* ---- arrays */

#define MINUS_1           "J\xff\xff\xff\xff"
#define DTYPE(code, more) "cnumpy\ndtype\n\x8c\x02" code "\x89\x88\x87R(K\x03" more "tb"
#define I2                DTYPE("i2", "\x8c\x01>NNN" MINUS_1 MINUS_1 "K\0")
#define O8                DTYPE("O8", "\x8c\x01|NNN" MINUS_1 MINUS_1 "K\x3f")
#define V2      \
    DTYPE("V2", \
          "\x8c\x01|N(\x8c\x01x\x8c\x01yt}(\x8c\x01x" I1 "K\0\x86\x8c\x01y" I1 "K\x01\x86uK\x02K\x01K\x10")
#define I1 DTYPE("i1", "\x8c\x01|NNN" MINUS_1 MINUS_1 "K\0")
#define MADE_BY(name, state)                                       \
    "cnumpy._core.multiarray\n" name "\n(cnumpy\nndarray\nK\0\x85" \
    "C\x01"                                                        \
    "btR(K\x01" state "tb"
#define ARRAY(state) MADE_BY("_reconstruct", state)
#define SHAPE_23     "K\x02K\x03\x86"
#define TWELVE \
    "C\x0c"    \
    "abcdefghijkl"

static struct upk_ndarray array_of(struct opened o) {
    struct upk_ndarray a;
    assert_is(o, "a");
    assert_true(upk_get_ndarray(o.doc, o.v, &a));
    return a;
}

static void arrays_are_described(void **state) {
    (void)state;
    struct opened o = OPEN(ARRAY(SHAPE_23 I2 "\x89" TWELVE));
    struct upk_ndarray a = array_of(o);
    assert_true(a.kind == 'i' && a.order == '>' && a.itemsize == 2 && a.ndim == 2 && a.count == 6 &&
                !a.fortran);
    assert_true(a.shape[0] == 2 && a.shape[1] == 3 && a.strides[0] == 6 && a.strides[1] == 2);
    assert_memory_equal(a.data, "abcdefghijkl", 12);
    assert_true(a.objects.kind == UPK_INVALID && a.mask == NULL && a.mask_each == 0);
    close_doc(o);
    o = OPEN(ARRAY(SHAPE_23 I2 "\x88" TWELVE));
    a = array_of(o);
    assert_true(a.fortran && a.strides[0] == 2 && a.strides[1] == 4);
    close_doc(o);
    o = OPEN(ARRAY(")" I2 "\x89"
                   "C\x02xy"));
    a = array_of(o);
    assert_true(a.ndim == 0 && a.count == 1);
    assert_memory_equal(a.data, "xy", 2);
    close_doc(o);
    o = OPEN(ARRAY("K\0K\x03\x86" I2 "\x89"
                   "C\0"));
    a = array_of(o);
    assert_true(a.ndim == 2 && a.count == 0 && a.shape[0] == 0 && a.shape[1] == 3 && a.strides[0] == 0 &&
                a.strides[1] == 0);
    close_doc(o);
    o = OPEN("cnumpy._core.multiarray\nscalar\n" I2 "C\x02xy\x86R");
    a = array_of(o);
    assert_true(a.ndim == 0 && a.count == 1 && a.kind == 'i');
    assert_memory_equal(a.data, "xy", 2);
    close_doc(o);
}

static void masks_and_records(void **state) {
    (void)state;
    struct opened o = OPEN(ARRAY("K\x02\x85" I2 "\x89"
                                 "C\x04"
                                 "abcd"
                                 "C\x02\0\x01N"));
    struct upk_ndarray a = array_of(o);
    assert_true(a.mask_each == 1);
    assert_memory_equal(a.mask, "\0\1", 2);
    close_doc(o);
    o = OPEN(ARRAY("K\x02\x85" V2 "\x89"
                   "C\x04"
                   "abcd"
                   "C\x04\0\x01\x01\0N"));
    a = array_of(o);
    assert_true(a.kind == 'V' && a.order == '|' && a.itemsize == 2 && a.mask_each == 2);
    assert_memory_equal(a.mask, "\0\1\1\0", 4);
    struct upk_value names;
    assert_true(upk_object_state(a.dtype, &names) && upk_at(names, 3, &names) &&
                upk_str_is(at(names, 1), "y"));
    close_doc(o);
}

static void arrays_of_objects_have_a_list(void **state) {
    (void)state;
    struct opened o = OPEN(ARRAY(SHAPE_23 O8 "\x88](K\x01K\x02K\x03K\x04K\x05K\x06"
                                             "e"));
    const struct upk_ndarray a = array_of(o);
    assert_true(a.kind == 'O' && a.data == NULL && a.count == 6 && upk_len(a.objects) == 6);
    assert_true(!a.fortran && a.strides[0] == 3 &&
                a.strides[1] == 1); /* they come in C order, whatever is said */
    assert_int(at(a.objects, (size_t)(1 * a.strides[0] + 2 * a.strides[1])), 6);
    close_doc(o);
}

#define FROM(data, order) "cnumpy._core.numeric\n_frombuffer\n(" data I2 SHAPE_23 "\x8c\x01" order "tR"

static void views_point_into_the_buffer(void **state) {
    (void)state;
    static const char bytes[] = "abcdefghijkl", stream[] = SCOPE FROM("\x97", "F") ".";
    const struct upk_bytes buffer = {bytes, 12};
    const struct upk_options options = {.buffers = &buffer, .buffer_count = 1};
    struct opened o = open_bytes(stream, sizeof stream - 1, &options);
    struct upk_ndarray a = array_of(o);
    assert_ptr_equal(a.data, bytes);
    assert_true(a.fortran && a.strides[0] == 2 && a.strides[1] == 4);
    close_doc(o);
    o = OPEN(FROM(TWELVE, "C"));
    a = array_of(o);
    assert_memory_equal(a.data, bytes, 12);
    assert_false(a.fortran);
    close_doc(o);
}

static void only_what_a_check_proved_is_an_array(void **state) {
    (void)state;
    struct opened o = OPEN(MADE_BY("unchecked", SHAPE_23 I2 "\x89" TWELVE));
    assert_is(o, "");
    close_doc(o);
    o = OPEN(I2);
    assert_is(o, "");
    close_doc(o);
    o.doc = DECODE(NULL, SCOPE ARRAY(SHAPE_23 I2 "\x89" TWELVE) ".");
    o.v = upk_doc_root(o.doc);
    assert_is(o, "");
    close_doc(o);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, trial_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(dates_have_their_parts),
        TEST(what_is_no_date_is_none),
        TEST(inspected_documents_have_dates),
        TEST(decimals_have_their_text),
        TEST(uuids_have_16_bytes),
        TEST(arrays_are_described),
        TEST(masks_and_records),
        TEST(arrays_of_objects_have_a_list),
        TEST(views_point_into_the_buffer),
        TEST(only_what_a_check_proved_is_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
