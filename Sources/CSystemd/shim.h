// What Sources/Systemd needs of libsystemd and of the kernel: the headers, and typed forms of the variadic prctl(2).
#ifndef CSYSTEMD_SHIM_H
#define CSYSTEMD_SHIM_H

#include <sys/prctl.h>
#include <systemd/sd-daemon.h>

// Without this the header covers its functions with macros that record the caller's place in this file.
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

// Says whether the kernel may dump this process; returns 0, or -1 with errno.
static inline int csystemd_set_dumpable(int dumpable) {
    return prctl(PR_SET_DUMPABLE, (unsigned long)dumpable, 0UL, 0UL, 0UL);
}

// Whether the kernel may dump this process: 0 for no.
static inline int csystemd_get_dumpable(void) {
    return prctl(PR_GET_DUMPABLE, 0UL, 0UL, 0UL, 0UL);
}

#endif
