/* `policyc try`.  Layer: beside policyc.c, which calls it. */
#ifndef TOOLS_TRY_H
#define TOOLS_TRY_H

/* argv[0] is the word `try`; returns the exit status (cli.h). */
int try_main(int argc, char **argv);

#endif
