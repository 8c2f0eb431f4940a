// Calls a worker's script as fast as Redis accepts it, pipelined: no worker can be faster.
//
// --script FILE   the script; --rooms N   conversations, in turn; --depth N   calls in flight; --count N   calls in all

#include "floor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char *contents(const char *path) {
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file) fail("no such script");
    char *text = calloc(1, 1 << 20);
    if (!fread(text, 1, (1 << 20) - 1, file)) fail("an empty script");
    fclose(file);
    return text;
}

static void append(redisContext *redis, const char *sha, long room) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    long long expiry = (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000 + 3000;
    redisAppendCommand(redis, "EVALSHA %s 3 typing:{room%ld}:user%ld typing:{room%ld} members:{room%ld} user%ld phone %lld 3000 open",
                       sha, room, room, room, room, room, expiry);
}

int pipelined_scripts(int argc, char **argv) {
    redisContext *redis = connect_redis(number(argc, argv, "--redis", 6379));
    redisReply *loaded = redisCommand(redis, "SCRIPT LOAD %s", contents(word(argc, argv, "--script")));
    if (!loaded || loaded->type != REDIS_REPLY_STRING) fail("a script that Redis does not take");
    long rooms = number(argc, argv, "--rooms", 100), depth = number(argc, argv, "--depth", 256);
    long count = number(argc, argv, "--count", 100000);
    double start = seconds();
    for (long sent = 0, got = 0; got < count;) {
        while (sent < count && sent - got < depth) append(redis, loaded->str, sent++ % rooms);
        freeReplyObject(next_reply(redis));
        got++;
    }
    double took = seconds() - start;
    printf("{\"count\":%ld,\"seconds\":%.6f,\"rate\":%.0f}\n", count, took, (double)count / took);
    return 0;
}
