/* A matcher of AMQP patterns in plain C. With -DGREEDY it is wrong: behind a # it tries only the first place of the next word.
     cc -DGREEDY -o /tmp/greedy examples/matchers/matcher.c
     dfa-router fuzz --target cmd:/tmp/greedy --seconds 10 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *patterns[1000], *kept;

static size_t length(const char *words) { return strcspn(words, "."); }
static const char *rest(const char *words) { return words[length(words)] ? words + length(words) + 1 : NULL; }
static int same(const char *a, const char *b) { return length(a) == length(b) && !strncmp(a, b, length(a)); }

static int matches(const char *pattern, const char *key) { /* NULL is no words at all, "" is one empty word */
    if (!pattern) return !key;
    if (!same(pattern, "#")) return key && (same(pattern, "*") || same(pattern, key)) && matches(rest(pattern), rest(key));
    const char *next = rest(pattern);
    for (; key; key = rest(key)) {
        if (matches(next, key)) return 1;
#ifdef GREEDY
        if (next && same(next, key)) return 0;
#endif
    }
    return matches(next, NULL);
}

static char *string(char **line) { /* return the next JSON string, still encoded: equal texts have equal encodings */
    char *start = strchr(*line, '"'), *end;
    if (!start) return NULL;
    for (end = ++start; *end != '"'; end += *end == '\\' ? 2 : 1);
    *end = 0, *line = end + 1;
    return start;
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* send each line at once: into a pipe, C would buffer them */
    for (int count = 0; getline(&line, &room, stdin) > 0;) {
        char *next = line;
        if (!strcmp(string(&next), "patterns")) {
            free(kept);
            next = kept = strdup(next);
            for (count = 0; count < 1000 && (patterns[count] = string(&next)); count++);
            puts("true");
            continue;
        }
        const char *key = string(&next), *comma = "";
        putchar('[');
        for (int i = 0; i < count; i++)
            if (matches(*patterns[i] ? patterns[i] : NULL, *key ? key : NULL)) printf("%s%d", comma, i), comma = ",";
        puts("]");
    }
}
