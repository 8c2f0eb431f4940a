// A room server on epoll that only writes one prepared frame to each socket. It trusts every client, has no throttle,
// no expiry and no membership, and stores nothing in Redis. A signal is a PUBLISH to Redis, and returns through one
// subscription per room.
//
// --join   everything for one socket in one turn of the loop is written at once
// --ping   every device is pinged at this interval in milliseconds, evenly spread
//
// Clients' frames must be masked with zeros and arrive in one piece: the only clients are those of the benchmarks.

#define _GNU_SOURCE
#include "floor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

enum { BUCKETS = 1 << 16, NAME = 128, EVENTS = 1024, CHUNK = 65536, SWEEPS = 100 };

typedef struct device {
    int fd;
    bool open;
    char user[NAME];
    struct device *next;
    struct room *room;
    char *out;
    int waiting, room_for;
} device;

typedef struct room {
    char name[NAME];
    struct room *next;
    device **devices;
    int count, capacity;
    bool subscribed;
} room;

static room *rooms[BUCKETS];
static device *users[BUCKETS];
static device **devices;
static int most, highest;
static device *dirty[CHUNK];
static int dirty_count;
static bool joining;
static redisContext *commands, *messages;
static int poller;

static unsigned bucket(const char *name, size_t length) {
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return hash % BUCKETS;
}

static device *find_user(const char *name, size_t length) {
    device *found = users[bucket(name, length)];
    while (found && (strncmp(found->user, name, length) || found->user[length])) found = found->next;
    return found;
}

static room *find_room(const char *name, size_t length) {
    room *found = rooms[bucket(name, length)];
    while (found && (strncmp(found->name, name, length) || found->name[length])) found = found->next;
    return found;
}

// Returns what follows `"name":"`, up to the next quote.
static const char *field(const char *json, size_t size, const char *name, size_t *length) {
    const char *value = memmem(json, size, name, strlen(name));
    if (!value) return NULL;
    value += strlen(name);
    const char *end = memchr(value, '"', size - (size_t)(value - json));
    if (!end || end - value >= NAME) return NULL;
    *length = (size_t)(end - value);
    return value;
}

// MARK: Sending

static size_t frame(char *to, int opcode, const char *text, size_t length) {
    to[0] = (char)(0x80 | opcode);
    if (length < 126) {
        to[1] = (char)length;
        memcpy(to + 2, text, length);
        return length + 2;
    }
    to[1] = 126;
    to[2] = (char)(length >> 8);
    to[3] = (char)length;
    memcpy(to + 4, text, length);
    return length + 4;
}

static void write_out(device *to, const char *bytes, size_t length) {
    ssize_t sent = send(to->fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 ? errno != EPIPE && errno != ECONNRESET : sent != (ssize_t)length) fail("a device does not read");
}

static void deliver(device *to, const char *bytes, size_t length) {
    if (!joining) {
        write_out(to, bytes, length);
        return;
    }
    if (to->waiting + (int)length > to->room_for) {
        to->room_for = (to->waiting + (int)length) * 2;
        to->out = realloc(to->out, (size_t)to->room_for);
    }
    if (!to->waiting) {
        if (dirty_count == CHUNK) fail("too many devices for one turn");
        dirty[dirty_count++] = to;
    }
    memcpy(to->out + to->waiting, bytes, length);
    to->waiting += (int)length;
}

static void flush(void) {
    for (int i = 0; i < dirty_count; i++) {
        if (dirty[i]->open) write_out(dirty[i], dirty[i]->out, (size_t)dirty[i]->waiting);
        dirty[i]->waiting = 0;
    }
    dirty_count = 0;
}

static void say(device *to, const char *text) {
    char bytes[256];
    write_out(to, bytes, frame(bytes, 1, text, strlen(text)));
}

// MARK: Messages from devices

static void hello(device *from, const char *json, size_t size) {
    size_t length;
    const char *user = field(json, size, "\"token\":\"", &length);
    if (!user) fail("a hello without a token");
    memcpy(from->user, user, length);
    from->user[length] = 0;
    from->next = users[bucket(user, length)];
    users[bucket(user, length)] = from;
    say(from, "{\"type\":\"welcome\"}");
}

static room *open_room(const char *name, size_t length) {
    room *opened = calloc(1, sizeof *opened);
    memcpy(opened->name, name, length);
    opened->next = rooms[bucket(name, length)];
    rooms[bucket(name, length)] = opened;
    redisAppendCommand(messages, "SUBSCRIBE typing:{%s}", opened->name);
    return opened;
}

static void join(device *from, const char *json, size_t size) {
    size_t length;
    const char *name = field(json, size, "\"conversation\":\"", &length);
    if (!name) fail("a join without a conversation");
    room *joined = find_room(name, length);
    if (!joined) joined = open_room(name, length);
    if (joined->count == joined->capacity) {
        joined->capacity = joined->capacity ? joined->capacity * 2 : 4;
        joined->devices = realloc(joined->devices, (size_t)joined->capacity * sizeof(device *));
    }
    joined->devices[joined->count++] = from;
    from->room = joined;
    if (!memmem(json, size, "\"id\":", 5)) return;
    if (joined->subscribed) say(from, "{\"id\":1,\"type\":\"ack\"}");
}

static void typing(device *from, const char *json, size_t size) {
    char payload[512], channel[NAME + 16], command[1024];
    size_t length;
    const char *name = field(json, size, "\"conversation\":\"", &length);
    if (!name) fail("a signal without a conversation");
    bool types = memmem(json, size, "\"typing\":true", 13) != NULL;
    int text = snprintf(payload, sizeof payload, "{\"user\":\"%s\",\"typing\":%s,\"expires_in\":3000,\"at\":1700000000000}",
                        from->user, types ? "true" : "false");
    int to = snprintf(channel, sizeof channel, "typing:{%.*s}", (int)length, name);
    int whole = snprintf(command, sizeof command, "*3\r\n$7\r\nPUBLISH\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", to, channel, text, payload);
    redisAppendFormattedCommand(commands, command, (size_t)whole);
}

static void received(device *from, const char *json, size_t size) {
    if (memmem(json, size, "\"type\":\"typing\"", 15)) typing(from, json, size);
    else if (memmem(json, size, "\"type\":\"join\"", 13)) join(from, json, size);
    else if (memmem(json, size, "\"type\":\"hello\"", 14)) hello(from, json, size);
}

// MARK: Sockets

static void leave(device *gone) {
    for (device **at = &users[bucket(gone->user, strlen(gone->user))]; *at; at = &(*at)->next)
        if (*at == gone) {
            *at = gone->next;
            break;
        }
    for (int i = 0; gone->room && i < gone->room->count; i++)
        if (gone->room->devices[i] == gone) gone->room->devices[i] = gone->room->devices[--gone->room->count];
    close(gone->fd);
    devices[gone->fd] = NULL;
    gone->open = false; // Not freed: it may still be on the list of this turn.
}

static void read_device(device *from) {
    static char chunk[CHUNK];
    ssize_t count = recv(from->fd, chunk, sizeof chunk, 0);
    if (count <= 0) {
        if (count == 0 || errno != EAGAIN) leave(from);
        return;
    }
    char *at = chunk, *end = chunk + count;
    if (*at == 'G') {
        static const char answer[] = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                     "Sec-WebSocket-Accept: ICX+Yqv66kxgM0FcWaLWlFLwTAI=\r\n\r\n";
        at = memmem(chunk, (size_t)count, "\r\n\r\n", 4);
        if (!at) fail("a cut request");
        at += 4;
        write_out(from, answer, sizeof answer - 1);
    }
    while (at < end) {
        if (end - at < 4) fail("a cut frame");
        size_t head = 6, length = (unsigned char)at[1] & 0x7F;
        if (length == 126) {
            length = (size_t)((unsigned char)at[2] << 8 | (unsigned char)at[3]);
            head = 8;
        }
        if (at + head + length > end) fail("a cut frame");
        if ((at[0] & 15) == 1) received(from, at + head, length);
        if ((at[0] & 15) == 8) {
            leave(from);
            return;
        }
        at += head + length;
    }
}

static void watch(int fd, uint32_t events, void *data) {
    struct epoll_event event = {.events = events, .data.ptr = data};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event)) fail("epoll");
}

static void accept_all(int listener) {
    int fd;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        int one = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (fd >= most) fail("too many devices");
        device *came = calloc(1, sizeof *came);
        came->fd = fd;
        came->open = true;
        devices[fd] = came;
        if (fd > highest) highest = fd;
        watch(fd, EPOLLIN, came);
    }
}

static int listen_on(long port, int *bound) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 4096)) fail("the port");
    getsockname(listener, (struct sockaddr *)&address, &size);
    *bound = ntohs(address.sin_port);
    return listener;
}

// MARK: Redis

static void published(room *in, const char *payload, size_t size) {
    char text[512], bytes[600];
    size_t length = 0;
    const char *user = field(payload, size, "\"user\":\"", &length);
    if (!user) return;
    bool types = memmem(payload, size, "\"typing\":true", 13) != NULL;
    int written = types ? snprintf(text, sizeof text, "{\"conversation\":\"%s\",\"count\":1,\"type\":\"typing\",\"users\":[{\"user\":\"%.*s\"}]}",
                                   in->name, (int)length, user)
                        : snprintf(text, sizeof text, "{\"conversation\":\"%s\",\"count\":0,\"type\":\"typing\",\"users\":[]}", in->name);
    size_t whole = frame(bytes, 1, text, (size_t)written);
    device *typist = find_user(user, length);
    for (int i = 0; i < in->count; i++)
        if (in->devices[i] != typist && in->devices[i]->open) deliver(in->devices[i], bytes, whole);
}

// Acknowledges the joins that waited for the subscription.
static void confirmed(room *in) {
    in->subscribed = true;
    for (int i = 0; i < in->count; i++) say(in->devices[i], "{\"id\":1,\"type\":\"ack\"}");
}

static void heard(const redisReply *reply) {
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 3) return;
    const redisReply *kind = reply->element[0], *channel = reply->element[1], *payload = reply->element[2];
    room *in = find_room(channel->str + 8, channel->len - 9);
    if (!in) return;
    if (kind->str[0] == 'm') published(in, payload->str, payload->len);
    else confirmed(in);
}

static void read_redis(redisContext *redis) {
    void *reply;
    if (redisBufferRead(redis) != REDIS_OK) fail("Redis went away");
    while (redisGetReplyFromReader(redis, &reply) == REDIS_OK && reply) {
        if (redis == messages) heard(reply);
        freeReplyObject(reply);
    }
}

static void write_redis(redisContext *redis) {
    int done = 0;
    while (!done)
        if (redisBufferWrite(redis, &done) != REDIS_OK) fail("Redis went away");
}

static redisContext *open_redis(long port) {
    redisContext *redis = connect_redis(port);
    fcntl(redis->fd, F_SETFL, O_NONBLOCK);
    redis->flags &= ~REDIS_BLOCK;
    watch(redis->fd, EPOLLIN, redis);
    return redis;
}

// MARK: The loop

// Pings one hundredth of all devices, selected by descriptor.
static void ping(int sweep) {
    static const char bytes[] = {(char)0x89, 0};
    for (int fd = sweep; fd <= highest; fd += SWEEPS)
        if (devices[fd] && devices[fd]->user[0]) write_out(devices[fd], bytes, sizeof bytes);
}

static void turn(int listener, int patience) {
    static struct epoll_event events[EVENTS];
    int count = epoll_wait(poller, events, EVENTS, patience);
    for (int i = 0; i < count; i++) {
        void *what = events[i].data.ptr;
        if (!what) accept_all(listener);
        else if (what == commands || what == messages) read_redis(what);
        else if (((device *)what)->open) read_device(what);
    }
    if (joining) flush();
    write_redis(commands);
    write_redis(messages);
}

int room_server(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    most = (int)files.rlim_max;
    devices = calloc((size_t)most, sizeof *devices);
    joining = word(argc, argv, "--join") != NULL;
    poller = epoll_create1(0);
    long redis = number(argc, argv, "--redis", 6379);
    commands = open_redis(redis);
    messages = open_redis(redis);
    int port, listener = listen_on(number(argc, argv, "--port", 0), &port);
    watch(listener, EPOLLIN, NULL);
    printf("ready edge=ws://127.0.0.1:%d/v1/connect\n", port);
    fflush(stdout);

    double period = (double)number(argc, argv, "--ping", 0) / 1000 / SWEEPS, next = seconds() + period;
    for (int sweep = 0;;) {
        if (period == 0) {
            turn(listener, -1);
            continue;
        }
        double left = next - seconds();
        if (left > 0) {
            turn(listener, (int)(left * 1000) + 1);
            continue;
        }
        ping(sweep++ % SWEEPS);
        next += period;
    }
}
