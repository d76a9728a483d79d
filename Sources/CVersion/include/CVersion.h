#ifndef CVERSION_H
#define CVERSION_H

/// The commit that the program was built from, as git names it; empty where the build did not say.
const char *purser_commit(void);

#endif
