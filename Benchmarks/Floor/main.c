// floor: the least that a program over Redis must do.
//
//   floor room     --redis PORT [--port PORT] [--join] [--ping MS]   a room server
//   floor scripts  --redis PORT --script FILE …                      a script, pipelined
//   floor reads    --redis PORT --users N --rounds N                 HGETALL of many users, pipelined

#include "floor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "room")) return room_server(argc, argv);
    if (!strcmp(what, "scripts")) return pipelined_scripts(argc, argv);
    if (!strcmp(what, "reads")) return pipelined_reads(argc, argv);
    fprintf(stderr, "floor: say room, scripts or reads\n");
    return 64;
}

const char *word(int argc, char **argv, const char *name) {
    for (int i = 2; i < argc; i++)
        if (!strcmp(argv[i], name)) return i + 1 < argc ? argv[i + 1] : "";
    return NULL;
}

long number(int argc, char **argv, const char *name, long otherwise) {
    const char *text = word(argc, argv, name);
    return text ? atol(text) : otherwise;
}

_Noreturn void fail(const char *what) {
    fprintf(stderr, "floor: %s%s%s\n", what, errno ? ": " : "", errno ? strerror(errno) : "");
    exit(69);
}

double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

redisContext *connect_redis(long port) {
    redisContext *redis = redisConnect("127.0.0.1", (int)port);
    if (!redis || redis->err) fail("no Redis there");
    return redis;
}

redisReply *next_reply(redisContext *redis) {
    void *reply;
    if (redisGetReply(redis, &reply) != REDIS_OK) fail("Redis went away");
    if (((redisReply *)reply)->type == REDIS_REPLY_ERROR) {
        errno = 0;
        fail(((redisReply *)reply)->str);
    }
    return reply;
}
