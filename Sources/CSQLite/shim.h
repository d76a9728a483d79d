#ifndef CSQLITE_SHIM_H
#define CSQLITE_SHIM_H

#include <sqlite3.h>

#if SQLITE_VERSION_NUMBER < 3020000
#error "SQLite 3.20.0 or later is required"
#endif

// SQLite's option function is variadic, and Swift cannot call those. This stands in for it, for options that are switched on or
// off; which those are is in https://sqlite.org/c3ref/c_dbconfig_defensive.html.
static inline int csqlite_db_config_switch(sqlite3 *_Nonnull database, int option, int value) {
    return sqlite3_db_config(database, option, value, (int *)0);
}

#endif
