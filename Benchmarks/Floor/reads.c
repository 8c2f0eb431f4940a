// Reads presence records as fast as Redis returns them: one HGETALL per user, all in one pipeline.

#include "floor.h"

#include <stdio.h>

int pipelined_reads(int argc, char **argv) {
    redisContext *redis = connect_redis(number(argc, argv, "--redis", 6379));
    long users = number(argc, argv, "--users", 1000), rounds = number(argc, argv, "--rounds", 1);
    for (long round = 0; round < rounds; round++) {
        double start = seconds();
        for (long user = 0; user < users; user++) redisAppendCommand(redis, "HGETALL presence:{user%ld}", user);
        for (long user = 0; user < users; user++) freeReplyObject(next_reply(redis));
        printf("%.6f\n", seconds() - start);
    }
    return 0;
}
