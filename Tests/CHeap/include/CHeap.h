// How much this process has on its heap: the C library knows, and tells Swift nothing of it.

#ifndef CHEAP_H
#define CHEAP_H

#include <stddef.h>

/// The bytes that are allocated now, on all threads; 0 where that cannot be known.
size_t heap_bytes(void);

#endif
