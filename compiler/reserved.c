/* Names that C, C++ and their libraries keep.  Layer: see reserved.h. */
#include "reserved.h"

#include <string.h>

enum { MOST_WORD = 40 }; /* bytes of the longest */

/* Sources: the keywords of C up to C23 and of C++ up to C++20, with its alternative tokens; what C11
 * declares with external linkage (7.1.3) and its macros in small letters; all that gcc and clang know as
 * functions of the library; macros, types and functions of stdbool.h, stddef.h, stdint.h, stdio.h and
 * string.h in GNU mode; the macros that GNU mode predefines; namespace std; and parameters of the generated
 * functions, which a channel before theirs would shadow.  Each word stands between two spaces. */
static const char reserved[] =
    " BUFSIZ EOF FILE FILENAME_MAX FOPEN_MAX INT16_C INT16_MAX INT16_MIN INT16_WIDTH INT32_C INT32_MAX "
    "INT32_MIN INT32_WIDTH INT64_C INT64_MAX INT64_MIN INT64_WIDTH INT8_C INT8_MAX INT8_MIN INT8_WIDTH "
    "INTMAX_C INTMAX_MAX INTMAX_MIN INTMAX_WIDTH INTPTR_MAX INTPTR_MIN INTPTR_WIDTH INT_FAST16_MAX "
    "INT_FAST16_MIN INT_FAST16_WIDTH INT_FAST32_MAX INT_FAST32_MIN INT_FAST32_WIDTH INT_FAST64_MAX "
    "INT_FAST64_MIN INT_FAST64_WIDTH INT_FAST8_MAX INT_FAST8_MIN INT_FAST8_WIDTH INT_LEAST16_MAX "
    "INT_LEAST16_MIN INT_LEAST16_WIDTH INT_LEAST32_MAX INT_LEAST32_MIN INT_LEAST32_WIDTH "
    "INT_LEAST64_MAX INT_LEAST64_MIN INT_LEAST64_WIDTH INT_LEAST8_MAX INT_LEAST8_MIN INT_LEAST8_WIDTH "
    "L_ctermid L_cuserid L_tmpnam NULL PTRDIFF_MAX PTRDIFF_MIN PTRDIFF_WIDTH P_tmpdir RENAME_EXCHANGE "
    "RENAME_NOREPLACE RENAME_WHITEOUT SEEK_CUR SEEK_DATA SEEK_END SEEK_HOLE SEEK_SET SIG_ATOMIC_MAX "
    "SIG_ATOMIC_MIN SIG_ATOMIC_WIDTH SIZE_MAX SIZE_WIDTH TMP_MAX UINT16_C UINT16_MAX UINT16_WIDTH "
    "UINT32_C UINT32_MAX UINT32_WIDTH UINT64_C UINT64_MAX UINT64_WIDTH UINT8_C UINT8_MAX UINT8_WIDTH "
    "UINTMAX_C UINTMAX_MAX UINTMAX_WIDTH UINTPTR_MAX UINTPTR_WIDTH UINT_FAST16_MAX UINT_FAST16_WIDTH "
    "UINT_FAST32_MAX UINT_FAST32_WIDTH UINT_FAST64_MAX UINT_FAST64_WIDTH UINT_FAST8_MAX "
    "UINT_FAST8_WIDTH UINT_LEAST16_MAX UINT_LEAST16_WIDTH UINT_LEAST32_MAX UINT_LEAST32_WIDTH "
    "UINT_LEAST64_MAX UINT_LEAST64_WIDTH UINT_LEAST8_MAX UINT_LEAST8_WIDTH WCHAR_MAX WCHAR_MIN "
    "WCHAR_WIDTH WINT_MAX WINT_MIN WINT_WIDTH abort abs acos acosf acosh acoshf acoshl acosl alignas "
    "aligned_alloc alignof and and_eq asctime asin asinf asinh asinhf asinhl asinl asm assert "
    "at_quick_exit atan atan2 atan2f atan2l atanf atanh atanhf atanhl atanl atexit atof atoi atol atoll "
    "atomic_compare_exchange_strong atomic_compare_exchange_strong_explicit "
    "atomic_compare_exchange_weak atomic_compare_exchange_weak_explicit atomic_exchange "
    "atomic_exchange_explicit atomic_fetch_add atomic_fetch_add_explicit atomic_fetch_and "
    "atomic_fetch_and_explicit atomic_fetch_or atomic_fetch_or_explicit atomic_fetch_sub "
    "atomic_fetch_sub_explicit atomic_fetch_xor atomic_fetch_xor_explicit atomic_flag_clear "
    "atomic_flag_clear_explicit atomic_flag_test_and_set atomic_flag_test_and_set_explicit atomic_init "
    "atomic_is_lock_free atomic_load atomic_load_explicit atomic_signal_fence atomic_store "
    "atomic_store_explicit atomic_thread_fence auto bcmp bcopy bitand bitor bool break bsearch btowc "
    "bzero c16rtomb c32rtomb cabs cabsf cabsl cacos cacosf cacosh cacoshf cacoshl cacosl call_once "
    "calloc carg cargf cargl case casin casinf casinh casinhf casinhl casinl catan catanf catanh "
    "catanhf catanhl catanl catch cbrt cbrtf cbrtl ccos ccosf ccosh ccoshf ccoshl ccosl ceil ceilf "
    "ceilf128 ceilf32 ceilf32x ceilf64 ceilf64x ceill cexp cexpf cexpl char char16_t char32_t char8_t "
    "cimag cimagf cimagl class clearerr clearerr_unlocked clock clog clog10 clog10f clog10l clogf clogl "
    "cnd_broadcast cnd_destroy cnd_init cnd_signal cnd_timedwait cnd_wait co_await co_return co_yield "
    "compl complex concept conj conjf conjl const const_cast consteval constexpr constinit continue "
    "copysign copysignf copysignf128 copysignf32 copysignf32x copysignf64 copysignf64x copysignl cos "
    "cosf cosh coshf coshl cosl cpow cpowf cpowl cproj cprojf cprojl creal crealf creall csin csinf "
    "csinh csinhf csinhl csinl csqrt csqrtf csqrtl ctan ctanf ctanh ctanhf ctanhl ctanl ctermid ctime "
    "dcgettext decltype default delete dgettext difftime div do double dprintf drem dremf dreml "
    "dynamic_cast else enum erf erfc erfcf erfcl erff erfl errno execl execle execlp execv execve "
    "execvp exit exp exp10 exp10f exp10l exp2 exp2f exp2l expf expl explicit explicit_bzero expm1 "
    "expm1f expm1l export extern fabs fabsf fabsf128 fabsf32 fabsf32x fabsf64 fabsf64x fabsl false "
    "fclose fdim fdimf fdiml fdopen feclearexcept fegetenv fegetexceptflag fegetround feholdexcept feof "
    "feof_unlocked feraiseexcept ferror ferror_unlocked fesetenv fesetexceptflag fesetround "
    "fetestexcept feupdateenv fflush fflush_unlocked ffs ffsl ffsll fgetc fgetc_unlocked fgetpos fgets "
    "fgetwc fgetws fileno fileno_unlocked finite finitef finitel float flockfile floor floorf floorf128 "
    "floorf32 floorf32x floorf64 floorf64x floorl fma fmaf fmaf128 fmaf32 fmaf32x fmaf64 fmaf64x fmal "
    "fmax fmaxf fmaxf128 fmaxf32 fmaxf32x fmaxf64 fmaxf64x fmaxl fmemopen fmin fminf fminf128 fminf32 "
    "fminf32x fminf64 fminf64x fminl fmod fmodf fmodl fopen for fork fortran fpclassify fpos_t fprintf "
    "fputc fputc_unlocked fputs fputs_unlocked fputwc fputws fread fread_unlocked free freopen frexp "
    "frexpf frexpl friend fscanf fseek fseeko fsetpos ftell ftello ftrylockfile funlockfile fwide "
    "fwprintf fwrite fwrite_unlocked fwscanf gamma gammaf gammal getc getc_unlocked getchar "
    "getchar_unlocked getdelim getenv getline gettext getw getwc getwchar gmtime goto hypot hypotf "
    "hypotl i386 if ilogb ilogbf ilogbl imaxabs imaxdiv index inline int int16_t int32_t int64_t int8_t "
    "int_fast16_t int_fast32_t int_fast64_t int_fast8_t int_least16_t int_least32_t int_least64_t "
    "int_least8_t intmax_t intptr_t isalnum isalpha isascii isblank iscntrl isdigit isfinite isgraph "
    "isgreater isgreaterequal isinf isinff isinfl isless islessequal islessgreater islower isnan isnanf "
    "isnanl isnormal isprint ispunct isspace isunordered isupper iswalnum iswalpha iswblank iswcntrl "
    "iswctype iswdigit iswgraph iswlower iswprint iswpunct iswspace iswupper iswxdigit isxdigit j0 j0f "
    "j0l j1 j1f j1l jn jnf jnl kill_dependency labs ldexp ldexpf ldexpl ldiv lgamma lgamma_r lgammaf "
    "lgammaf_r lgammal lgammal_r linux llabs lldiv llrint llrintf llrintl llround llroundf llroundl "
    "locale_t localeconv localtime log log10 log10f log10l log1p log1pf log1pl log2 log2f log2l logb "
    "logbf logbl logf logl long longjmp lrint lrintf lrintl lround lroundf lroundl main malloc "
    "math_errhandling max_align_t mblen mbrlen mbrtoc16 mbrtoc32 mbrtowc mbsinit mbsrtowcs mbstowcs "
    "mbtowc memalign memccpy memchr memcmp memcpy memfrob memmem memmove mempcpy memset mktime modf "
    "modff modfl module_len mtx_destroy mtx_init mtx_lock mtx_timedlock mtx_trylock mtx_unlock mutable "
    "name_len namespace nan nanf nanf128 nanf32 nanf32x nanf64 nanf64x nanl nearbyint nearbyintf "
    "nearbyintf128 nearbyintf32 nearbyintf32x nearbyintf64 nearbyintf64x nearbyintl new nextafter "
    "nextafterf nextafterl nexttoward nexttowardf nexttowardl noexcept not not_eq nullptr off_t "
    "offsetof open_memstream operator or or_eq pclose perror popen posix_memalign pow pow10 pow10f "
    "pow10l powf powl printf private protected ptrdiff_t public putc putc_unlocked putchar "
    "putchar_unlocked puts putw putwc putwchar qsort quick_exit raise rand realloc register "
    "reinterpret_cast remainder remainderf remainderl remove remquo remquof remquol rename renameat "
    "requires restrict return rewind rindex rint rintf rintf128 rintf32 rintf32x rintf64 rintf64x rintl "
    "round roundeven roundevenf roundevenf128 roundevenf32 roundevenf32x roundevenf64 roundevenf64x "
    "roundevenl roundf roundf128 roundf32 roundf32x roundf64 roundf64x roundl scalb scalbf scalbl "
    "scalbln scalblnf scalblnl scalbn scalbnf scalbnl scanf setbuf setbuffer setjmp setlinebuf "
    "setlocale setvbuf short sigabbrev_np sigdescr_np signal signbit signed significand significandf "
    "significandl sin sincos sincosf sincosl sinf sinh sinhf sinhl sinl size_t sizeof snprintf sprintf "
    "sqrt sqrtf sqrtf128 sqrtf32 sqrtf32x sqrtf64 sqrtf64x sqrtl srand sscanf ssize_t static "
    "static_assert static_cast std stderr stdin stdout stpcpy stpncpy strcasecmp strcasecmp_l strcat "
    "strchr strcmp strcoll strcoll_l strcpy strcspn strdup strdupa strerror strerror_l strerror_r "
    "strerrordesc_np strerrorname_np strfmon strfry strftime strlen strncasecmp strncasecmp_l strncat "
    "strncmp strncpy strndup strndupa strnlen strpbrk strrchr strsep strsignal strspn strstr strtod "
    "strtof strtoimax strtok strtok_r strtol strtold strtoll strtoul strtoull strtoumax struct "
    "strverscmp strxfrm strxfrm_l switch swprintf swscanf system tan tanf tanh tanhf tanhl tanl "
    "template tempnam tgamma tgammaf tgammal this thrd_create thrd_current thrd_detach thrd_equal "
    "thrd_exit thrd_join thrd_sleep thrd_yield thread_local throw time timespec_get tmpfile tmpnam "
    "tmpnam_r toascii tolower toupper towctrans towlower towupper true trunc truncf truncf128 truncf32 "
    "truncf32x truncf64 truncf64x truncl try tss_create tss_delete tss_get tss_set typedef typeid "
    "typename typeof typeof_unqual uint16_t uint32_t uint64_t uint8_t uint_fast16_t uint_fast32_t "
    "uint_fast64_t uint_fast8_t uint_least16_t uint_least32_t uint_least64_t uint_least8_t uintmax_t "
    "uintptr_t ungetc ungetwc union unix unsigned using va_arg va_copy va_end va_list va_start vdprintf "
    "vfork vfprintf vfscanf vfwprintf vfwscanf virtual void volatile vprintf vscanf vsnprintf vsprintf "
    "vsscanf vswprintf vswscanf vwprintf vwscanf wchar_t wcrtomb wcscat wcschr wcscmp wcscoll wcscpy "
    "wcscspn wcsftime wcslen wcsncat wcsncmp wcsncpy wcspbrk wcsrchr wcsrtombs wcsspn wcsstr wcstod "
    "wcstof wcstoimax wcstok wcstol wcstold wcstoll wcstombs wcstoul wcstoull wcstoumax wcsxfrm wctob "
    "wctomb wctrans wctype while wmemchr wmemcmp wmemcpy wmemmove wmemset wprintf wscanf xor xor_eq y0 "
    "y0f y0l y1 y1f y1l yn ynf ynl ";

/* The prefix of libupk, in any case: row constants are in capitals. */
static bool has_own_prefix(struct text name) {
    static const char prefix[] = "upk";
    if (name.len < sizeof prefix - 1) return false;
    for (size_t i = 0; i < sizeof prefix - 1; i++) {
        if ((name.at[i] | 0x20) != prefix[i]) return false;
    }
    return true;
}

bool name_is_reserved(struct text name) {
    char word[MOST_WORD + 3] = " ";
    if (name.len == 0 || name.at[0] == '_' || has_own_prefix(name)) return true;
    if (name.len > MOST_WORD) return false;
    memcpy(word + 1, name.at, name.len);
    memcpy(word + 1 + name.len, " ", 2);
    if (strstr(reserved, word) != NULL) return true;
    /* Rows are in capitals, of which the library has none. */
    return name.at[0] >= 'a' && strstr(reserved_by_library, word) != NULL;
}
