#include "CVersion.h"

// Package.swift defines it from the environment: a Swift file cannot be given a text by the build.
#ifndef PURSER_COMMIT
#define PURSER_COMMIT ""
#endif

const char *purser_commit(void) { return PURSER_COMMIT; }
