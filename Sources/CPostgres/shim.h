#ifndef CPOSTGRES_SHIM_H
#define CPOSTGRES_SHIM_H

#include <libpq-fe.h>
// Swift's Glibc leaves this out.
#include <sys/eventfd.h>

#ifndef LIBPQ_HAS_PIPELINING
#error "libpq 14 or later is required"
#endif

#endif
