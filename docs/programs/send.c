/*
 * Sends one reading and a batch over a POSIX socket, and repeats what can pass later.
 *
 *   cc -std=c11 -Wall -Wextra -O2 -o send send.c
 *   CELLARBOOK_URL=http://127.0.0.1:3000 CELLARBOOK_KEY=clr_... CELLARBOOK_CELLAR=wine-berlin ./send
 *
 * It speaks plain http, which shows the key to everybody on the way. On a network, let your TLS library (mbedTLS, BearSSL,
 * wolfSSL) connect, check the certificate, and replace send() and recv() below.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { TRIES_MAX = 8, TIMEOUT_S = 60, BACKOFF_S_MAX = 60, NO_ANSWER = 0 };

/* 2024-01-01. A device that starts in 1970 has no time yet: wait for NTP. */
static const time_t CLOCK_IS_SET = 1704067200;

struct service {
    char host[256];
    char port[8];
    char base_path[256]; /* without a slash at its end, so mostly empty */
    const char *key;
    const char *cellar;
    long second_ms; /* Tests make the second shorter. */
};

struct answer {
    int status;       /* NO_ANSWER if the connection broke: the reading may be stored */
    long retry_after; /* seconds, or -1 without that header */
    char bytes[8192]; /* the whole answer, which ends with 0 */
    const char *body;
};

/* Writes at the end of a text. Returns false if the text would be cut off. */
static bool append(char *text, size_t size, const char *format, ...) {
    size_t used = strlen(text);
    va_list values;
    va_start(values, format);
    int added = vsnprintf(text + used, size - used, format, values);
    va_end(values);
    return added >= 0 && (size_t)added < size - used;
}

/* Writes a name as a JSON string. Names are UTF-8 without control characters, so only two characters need a backslash. */
static bool append_string(char *text, size_t size, const char *name) {
    bool fits = append(text, size, "\"");
    for (; *name != '\0'; name++) {
        fits = fits && append(text, size, *name == '"' || *name == '\\' ? "\\%c" : "%c", *name);
    }
    return fits && append(text, size, "\"");
}

/* Without a value (nan, inf) there is no reading. A program that calls setlocale() must keep LC_NUMERIC at "C". */
static bool append_reading(char *text, size_t size, const char *cellar, const char *keg, double value) {
    time_t now = time(NULL);
    struct tm utc;
    char timestamp[32];
    if (!isfinite(value) || now < CLOCK_IS_SET || gmtime_r(&now, &utc) == NULL) return false;
    strftime(timestamp, sizeof timestamp, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return append(text, size, "{\"cellar\":") && append_string(text, size, cellar) &&
           append(text, size, ",\"rack\":\"rack-17\",\"keg\":") && append_string(text, size, keg) &&
           append(text, size, ",\"value\":%.10g,\"timestamp\":\"%s\"}", value, timestamp);
}

static int connect_to(const struct service *service) {
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found = NULL;
    if (getaddrinfo(service->host, service->port, &hints, &found) != 0) return -1;
    int fd = -1;
    for (struct addrinfo *one = found; one != NULL; one = one->ai_next) {
        fd = socket(one->ai_family, one->ai_socktype, one->ai_protocol);
        if (fd < 0) continue;
        struct timeval most = {.tv_sec = TIMEOUT_S};
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
        if (connect(fd, one->ai_addr, one->ai_addrlen) == 0) break;
        close(fd);
        fd = -1;
    }
    freeaddrinfo(found);
    return fd;
}

static bool send_all(int fd, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        bytes += sent;
        count -= (size_t)sent;
    }
    return true;
}

/* Returns the number in a header of an answer, or -1 if it is not there. */
static long header_number(const char *head, const char *name) {
    for (const char *line = strstr(head, "\r\n"); line != NULL; line = strstr(line, "\r\n")) {
        line += 2;
        if (line[0] == '\r') break;
        if (strncasecmp(line, name, strlen(name)) != 0 || line[strlen(name)] != ':') continue;
        const char *text = line + strlen(name) + 1;
        text += strspn(text, " \t");
        size_t digits = strspn(text, "0123456789");
        return digits > 0 && digits <= 6 && text[digits] == '\r' ? atol(text) : -1;
    }
    return -1;
}

/* Reads the head of an answer as soon as it is there. Returns the size of the whole answer, or 0 if that is not known. */
static size_t read_head(struct answer *answer) {
    const char *head_end = strstr(answer->bytes, "\r\n\r\n");
    if (head_end == NULL || sscanf(answer->bytes, "HTTP/1.%*d %d", &answer->status) != 1) return 0;
    long length = header_number(answer->bytes, "Content-Length");
    answer->body = head_end + 4;
    answer->retry_after = header_number(answer->bytes, "Retry-After");
    return length < 0 ? 0 : (size_t)(answer->body - answer->bytes) + (size_t)length;
}

/* Reads until the answer is complete. The status is NO_ANSWER if the connection breaks first. */
static void receive(int fd, struct answer *answer) {
    size_t count = 0, wanted = 0;
    while (count < sizeof answer->bytes - 1 && (wanted == 0 || count < wanted)) {
        ssize_t got = recv(fd, answer->bytes + count, sizeof answer->bytes - 1 - count, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 || (got == 0 && wanted != 0)) answer->status = NO_ANSWER;
        if (got <= 0) return;
        count += (size_t)got;
        answer->bytes[count] = '\0';
        wanted = read_head(answer);
    }
}

/* Sends one request on a connection of its own. */
static void post(const struct service *service, const char *path, const char *idempotency_key, const char *body,
                 struct answer *answer) {
    memset(answer, 0, sizeof *answer);
    answer->body = answer->bytes;
    answer->retry_after = -1;
    char head[1024] = "";
    /* Content-Length counts bytes. Nothing may follow the body, and the sending side stays open until the answer is there. */
    if (!append(head, sizeof head,
                "POST %s%s HTTP/1.1\r\n"
                "Host: %s:%s\r\n"
                "X-API-Key: %s\r\n"
                "Content-Type: application/json\r\n"
                "Idempotency-Key: %s\r\n"
                "Content-Length: %zu\r\n"
                "Connection: close\r\n"
                "\r\n",
                service->base_path, path, service->host, service->port, service->key, idempotency_key, strlen(body))) {
        fputs("the head of the request is too long\n", stderr);
        exit(2);
    }
    int fd = connect_to(service);
    if (fd < 0) return;
    if (send_all(fd, head, strlen(head)) && send_all(fd, body, strlen(body))) receive(fd, answer);
    close(fd);
}

static bool can_pass_later(int status) {
    switch (status) {
        case NO_ANSWER:
        case 408:
        case 409:
        case 429:
        case 500:
        case 502:
        case 503:
        case 504: return true;
        default: return false;
    }
}

/* Bytes that nobody can guess and no other device has. On a microcontroller, take them from its random generator. */
static void random_bytes(unsigned char *bytes, size_t count) {
    FILE *source = fopen("/dev/urandom", "rb");
    if (source == NULL || fread(bytes, 1, count, source) != count) {
        perror("/dev/urandom");
        exit(2);
    }
    fclose(source);
}

/* Waits up to a half longer, so that the devices of a fleet do not return at the same moment. */
static void wait_seconds(const struct service *service, long seconds) {
    unsigned char chance;
    random_bytes(&chance, 1);
    long ms = seconds * service->second_ms;
    ms += (long)((double)ms * chance / 512);
    struct timespec rest = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&rest, &rest) != 0 && errno == EINTR) continue;
}

/* Sends until it is stored or refused for good. Every try has the same bytes and the same idempotency key. */
static bool send_reliably(const struct service *service, const char *path, const char *body) {
    unsigned char random[16];
    char idempotency_key[2 * sizeof random + 1] = "";
    random_bytes(random, sizeof random);
    for (size_t at = 0; at < sizeof random; at++) append(idempotency_key, sizeof idempotency_key, "%02x", random[at]);

    static struct answer answer;
    long backoff = 1;
    for (int attempt = 1;; attempt++) {
        post(service, path, idempotency_key, body, &answer);
        if (answer.status == 200 || answer.status == 207) {
            puts(answer.body);
            return true;
        }
        if (!can_pass_later(answer.status) || attempt == TRIES_MAX) break;
        long seconds = answer.retry_after >= 0 ? answer.retry_after : backoff;
        fprintf(stderr, "status %d: next try in %ld s\n", answer.status, seconds);
        wait_seconds(service, seconds);
        backoff = backoff * 2 < BACKOFF_S_MAX ? backoff * 2 : BACKOFF_S_MAX;
    }
    fprintf(stderr, "not stored: %d %s\n", answer.status, answer.body);
    return false;
}

static const char *needed(const char *name) {
    const char *value = getenv(name);
    if (value != NULL && value[0] != '\0') return value;
    fprintf(stderr, "%s is not set\n", name);
    exit(2);
}

static int no_body(void) {
    fputs("no value, no time yet, or too many readings\n", stderr);
    return 2;
}

/* Takes the host, the port and the path of an address. Returns false if it is no http address. */
static bool read_url(const char *url, struct service *service) {
    if (sscanf(url, "http://%255[^:/]:%7[0-9]", service->host, service->port) < 1) return false;
    const char *path = strchr(url + strlen("http://"), '/');
    size_t length = path == NULL ? 0 : strlen(path);
    while (length > 0 && path[length - 1] == '/') length--;
    if (length >= sizeof service->base_path) return false;
    if (length > 0) memcpy(service->base_path, path, length);
    return true;
}

int main(void) {
    struct service service = {.port = "80", .key = needed("CELLARBOOK_KEY"), .cellar = needed("CELLARBOOK_CELLAR")};
    if (!read_url(needed("CELLARBOOK_URL"), &service)) {
        fputs("CELLARBOOK_URL must begin with http:// and a host\n", stderr);
        return 2;
    }
    const char *second_ms = getenv("CELLARBOOK_SECOND_MS");
    service.second_ms = second_ms == NULL ? 1000 : atol(second_ms);

    char body[4096] = "";
    if (!append_reading(body, sizeof body, service.cellar, "temperature", 21.5)) return no_body();
    if (!send_reliably(&service, "/api/v1/ingest", body)) return 1;

    body[0] = '\0';
    if (!append(body, sizeof body, "{\"readings\":[") ||
        !append_reading(body, sizeof body, service.cellar, "temperature", 21.6) || !append(body, sizeof body, ",") ||
        !append_reading(body, sizeof body, service.cellar, "humidity", 64) || !append(body, sizeof body, "]}")) {
        return no_body();
    }
    return send_reliably(&service, "/api/v1/ingest/batch", body) ? 0 : 1;
}
