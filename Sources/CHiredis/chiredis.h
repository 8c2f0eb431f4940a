// Only hiredis's protocol reader is used: sockets belong to SwiftNIO. What differs between hiredis 0.14 and 1.x, and
// Swift cannot see, is levelled here.
#ifndef CHIREDIS_H
#define CHIREDIS_H

#include <stddef.h>
#include <hiredis/hiredis.h>
#include <hiredis/read.h>

#ifdef REDIS_REPLY_DOUBLE
static inline void *chiredis_no_double(const redisReadTask *task, double value, char *text, size_t length) {
    (void)task, (void)value, (void)text, (void)length;
    return NULL;
}

static inline void *chiredis_no_bool(const redisReadTask *task, int value) {
    (void)task, (void)value;
    return NULL;
}
#endif

// Refuses values that only RESP3 has. hiredis 0.14 knows none; 1.x lets through what has no function.
static inline void chiredis_refuse_resp3(redisReplyObjectFunctions *functions) {
#ifdef REDIS_REPLY_DOUBLE
    functions->createDouble = chiredis_no_double;
    functions->createBool = chiredis_no_bool;
#else
    (void)functions;
#endif
}

#endif
