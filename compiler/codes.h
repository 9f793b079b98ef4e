/* The permanent error codes of policyc: X(number, name).  A number is never used for another meaning;
 * docs/errors.md explains each, and tests/policy/bad holds an example of each, but of those that no short
 * policy gets: limits, output files and their names, Python modules, gperf (4 to 8, 82, 90; tests/test_policyc.py), and no memory (3;
 * tests/unit/test_compile.c).
 *
 * Layer: data.
 */
#ifndef COMPILER_CODES_H
#define COMPILER_CODES_H

#define DIAG_CODES(X)                                                                          \
    X(1, NOT_READ)       /* a file cannot be read */                                           \
    X(2, BAD_BYTES)      /* not UTF-8, NUL, control or bidi character */                       \
    X(3, MEMORY)         /* out of memory */                                                   \
    X(4, TOO_MANY)       /* a limit of the compiler itself */                                  \
    X(5, NOT_WRITTEN)    /* an output file cannot be written */                                \
    X(6, DEPFILE_NAME)   /* a file name that make would not read */                            \
    X(7, OUTPUT_NAME)    /* an output that is no .c, a source, or no regular file */           \
    X(8, USAGE)          /* a command line that says nothing that can be done */               \
    X(10, BAD_CHARACTER) /* starts no token */                                                 \
    X(11, BAD_NUMBER)    /* too large, bad unit, stray letters or underscores */               \
    X(12, SYNTAX)        /* unexpected token */                                                \
    X(13, MISSING_SEMICOLON)                                                                   \
    X(14, BAD_STRING) /* not closed, bad escape */                                             \
    X(15, TOO_DEEP)   /* nested too deep */                                                    \
    X(17, BAD_NAME)   /* empty, too long, control characters, empty part */                    \
    X(18, NO_HEADER)  /* neither `policy` nor `fragment` first */                              \
    X(20, INCLUDE_NOT_FOUND)                                                                   \
    X(21, INCLUDE_PATH) /* absolute, `..`, a link that leaves the tree */                      \
    X(22, INCLUDE_CYCLE)                                                                       \
    X(23, INCLUDE_POLICY)     /* an included file is a policy, a main file a fragment */       \
    X(24, FRAGMENT_SETS)      /* a fragment sets what only a policy may */                     \
    X(25, DUPLICATE_FRAGMENT) /* two files of one fragment name */                             \
    X(26, MISPLACED)          /* in a file with channels, what belongs in a channel */         \
    X(30, UNKNOWN_TYPE)                                                                        \
    X(31, UNKNOWN_CLASS) /* m::N that no row gives, ref m::N without `ref` */                  \
    X(32, UNKNOWN_FRAGMENT)                                                                    \
    X(33, UNKNOWN_OPCODE)                                                                      \
    X(34, UNKNOWN_BUDGET)                                                                      \
    X(35, UNKNOWN_CHECK)                                                                       \
    X(36, UNKNOWN_HOOK) /* after `runs` */                                                     \
    X(40, DUPLICATE_ROW)                                                                       \
    X(41, DUPLICATE_TYPE)                                                                      \
    X(42, DUPLICATE_FIELD)   /* field, argument, keyword */                                    \
    X(43, DUPLICATE_SETTING) /* protocol, root, a budget, opcodes, step, clause twice */       \
    X(44, DUPLICATE_ALTERNATIVE)                                                               \
    X(45, DUPLICATE_ALIAS)                                                                     \
    X(46, DUPLICATE_CHANNEL)                                                                   \
    X(50, RECURSIVE_TYPE) /* without a constructor between */                                  \
    X(51, BAD_RANGE)      /* lo > hi, negative length, never satisfiable */                    \
    X(52, BAD_UNIT)       /* a size unit where nothing counts bytes */                         \
    X(53, BAD_CHARS)                                                                           \
    X(54, BAD_ORDER) /* optional before required, repeat not last */                           \
    X(55, RESERVED_TYPE_NAME)                                                                  \
    X(60, MISSING_MAKER)     /* a class row that says no way to make it */                     \
    X(61, STEPS_NOT_ALLOWED) /* on ref and const */                                            \
    X(62, NEEDS_BECAUSE)                                                                       \
    X(63, BAD_RESULT)   /* after `->` */                                                       \
    X(64, DANGEROUS)    /* a name that reaches the system, granted without a reason */         \
    X(65, BAD_TEMPLATE) /* a field, member or value that such a template cannot have */        \
    X(66, CHECK_MISFIT) /* a check that does not read such arguments */                        \
    X(67, TWO_RESULTS)  /* alternatives of different results that one call fits */             \
    X(68, OLD_NAME)     /* a row named as Python 2 names it */                                 \
    X(70, BAD_PROTOCOL)                                                                        \
    X(71, BUDGET_TOO_LARGE)                                                                    \
    X(72, WIDENED)         /* a channel widens what the policy set */                          \
    X(73, NOTHING_ALLOWED) /* no opcode left, EXT granted */                                   \
    X(74, CANNOT_SPELL)    /* a grant that no allowed opcode can spell */                      \
    X(75, NEVER_VIOLATED)                                                                      \
    X(76, DEAD_ALIAS) /* alias onto itself, grant under an alias's `from` */                   \
    X(77, BAD_REVISION)                                                                        \
    X(78, ALIAS_CLASH)     /* two granted names are spellings of one */                        \
    X(79, DEAD_BUDGET)     /* a budget that nothing ever reaches */                            \
    X(80, SYMBOL_CLASH)    /* two names of the generated C are one */                          \
    X(81, SYMBOL_RESERVED) /* a policy's or channel's name is no name for C */                 \
    X(82, PYTHON_NAME)     /* a channel's name is no name for Python, or taken */              \
    X(83, FAIL_OPEN)       /* a policy with `fail_open` without the word of who compiles it */ \
    X(84, BAD_DATE)        /* no date of the calendar, YYYY-MM-DD */                           \
    X(85, EXPIRED)         /* a `fail_open` after its last day */                              \
    X(86, DEAD_DENY)       /* `deny` of what a row grants */                                   \
    X(87, NOT_WITHIN)      /* `within' that could not be proved */                             \
    X(88, BAD_CHANNEL)     /* `within' of no other channel of the policy */                    \
    X(90, GPERF)           /* gperf cannot be run, or failed */                                \
    X(100, BAD_VARIABLE)   /* no name of a variable: empty, `=', NUL */                        \
    X(101, VARIABLE_FORM)  /* a pattern, base set or `->' where none may stand */              \
    X(102, UNKNOWN_BASE)   /* base set of variables */                                         \
    X(103, UNKNOWN_RULE)   /* after `where value' */                                           \
    X(104, DUPLICATE_VARIABLE)                                                                 \
    X(105, GRANTED_AND_NEVER)                                                                  \
    X(106, ODD_VARIABLE) /* `path', where `PATH' is a variable that everybody knows */         \
    X(107, BAD_VALUE)                                                                          \
    X(108, BAD_HOME) /* not `workspace', or HOME granted beside it */

enum diag_code {
#define DIAG_X(number, name) P_##name = number,
    DIAG_CODES(DIAG_X)
#undef DIAG_X
};

#endif
