#include "CAllocations.h"

#include <stddef.h>

static _Thread_local uint64_t allocations;

uint64_t allocations_of_thread(void) { return allocations; }

#ifdef __GLIBC__

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);

bool allocations_are_counted(void) { return true; }

void *malloc(size_t size) {
    allocations += 1;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    allocations += 1;
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    allocations += 1;
    return __libc_realloc(block, size);
}

#else

bool allocations_are_counted(void) { return false; }

#endif
