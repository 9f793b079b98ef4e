/* `policyc try`.  Layer: beside main.c, which calls it. */
#ifndef COMPILER_TRY_H
#define COMPILER_TRY_H

/* argv[0] is the word `try`; returns the exit status (tools/cli.h). */
int try_main(int argc, char **argv);

#endif
