/* `policyc fmt`.  Layer: beside policyc.c, which calls it. */
#ifndef TOOLS_FMT_H
#define TOOLS_FMT_H

/* argv[0] is the word `fmt`; returns the exit status (cli.h). */
int fmt_main(int argc, char **argv);

#endif
