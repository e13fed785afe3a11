/* Tokens of UTF-8 text: where words end, and their hash.
 *
 * Words are what Python's str.split() finds. Every function may read up to TOKEN_PADDING bytes beyond `end`: the
 * buffers of _text.pyx are allocated that much larger than their text.
 */
#ifndef DENSVEC_TOKENS_H
#define DENSVEC_TOKENS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TOKEN_PADDING 16

/* What a byte can be: part of a word, ASCII whitespace, or the first byte of a whitespace character beyond ASCII. */
enum { WORD_BYTE = 0, SPACE_BYTE = 1, LEAD_BYTE = 2 };

static const uint8_t byte_kind[256] = {
    [0x09] = SPACE_BYTE, [0x0A] = SPACE_BYTE, [0x0B] = SPACE_BYTE, [0x0C] = SPACE_BYTE, [0x0D] = SPACE_BYTE,
    [0x1C] = SPACE_BYTE, [0x1D] = SPACE_BYTE, [0x1E] = SPACE_BYTE, [0x1F] = SPACE_BYTE, [0x20] = SPACE_BYTE,
    [0xC2] = LEAD_BYTE,  [0xE1] = LEAD_BYTE,  [0xE2] = LEAD_BYTE,  [0xE3] = LEAD_BYTE,
};

/* Bytes of the whitespace character at p, 0 if there is none. */
static inline size_t space_length(const uint8_t *p, const uint8_t *end) {
    if (byte_kind[p[0]] != LEAD_BYTE) return byte_kind[p[0]] == SPACE_BYTE;
    if (end - p < 2) return 0;
    if (p[0] == 0xC2) return p[1] == 0x85 || p[1] == 0xA0 ? 2 : 0;                /* U+0085, U+00A0 */
    if (end - p < 3) return 0;
    switch (p[0]) {
        case 0xE1: return p[1] == 0x9A && p[2] == 0x80 ? 3 : 0;                   /* U+1680 */
        case 0xE2:
            if (p[1] == 0x80)                                    /* U+2000-U+200A, U+2028, U+2029, U+202F */
                return p[2] <= 0x8A || p[2] == 0xA8 || p[2] == 0xA9 || p[2] == 0xAF ? 3 : 0;
            return p[1] == 0x81 && p[2] == 0x9F ? 3 : 0;                          /* U+205F */
        default: return p[1] == 0x80 && p[2] == 0x80 ? 3 : 0;                     /* U+3000 */
    }
}

static inline uint64_t load8(const uint8_t *p) {
    uint64_t x;
    memcpy(&x, p, 8);
    return x;
}

#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_ARM64))
#include <intrin.h>
#define EIGHT_AT_ONCE 1
static inline int first_byte(uint64_t marks) {
    unsigned long bit;
    _BitScanForward64(&bit, marks);
    return (int)bit >> 3;
}
#elif defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define EIGHT_AT_ONCE 1
static inline int first_byte(uint64_t marks) { return __builtin_ctzll(marks) >> 3; }
#endif

/* A high bit for each byte below 0x21 or above 0x7F, where an ASCII word may end; the lowest one is always right,
 * those above it may come from a borrow. */
static inline uint64_t mark_ends(uint64_t x) {
    return ((x - 0x2121212121212121ULL) | x) & 0x8080808080808080ULL;
}

/* The first whitespace at or after p, or end. */
static inline const uint8_t *word_end(const uint8_t *p, const uint8_t *end) {
#ifdef EIGHT_AT_ONCE
    while (p < end) {
        const uint64_t marks = mark_ends(load8(p));
        if (!marks) {
            p += 8;
            continue;
        }
        p += first_byte(marks);
        if (p >= end || space_length(p, end)) break;
        p++;
    }
    return p < end ? p : end;
#else
    while (p < end && !space_length(p, end)) p++;
    return p;
#endif
}

/* A word of a text, with what a table needs to find it. Its first sixteen bytes are kept as two numbers, padded with
 * zeros: nearly all words are compared by these, without a branch that depends on their length. */
typedef struct {
    const uint8_t *start;
    size_t length;
    uint64_t low, high;
    uint64_t hash; /* only places words in tables: nothing saved or seen depends on it, so machines may differ */
} Word;

/* What makes one table's hashes differ from another's: random, so that nobody can write a text whose words all collide. */
typedef struct {
    uint64_t low, high;
} HashKey;

/* Both halves of the product of two numbers, combined by exclusive or. */
static inline uint64_t fold(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__)
    const unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#elif defined(_MSC_VER) && defined(_M_X64)
    uint64_t above;
    const uint64_t below = _umul128(a, b, &above);
    return below ^ above;
#elif defined(_MSC_VER) && defined(_M_ARM64)
    return (a * b) ^ __umulh(a, b);
#else
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t low = a0 * b0, cross = a1 * b0 + (low >> 32), other = a0 * b1 + (uint32_t)cross;
    return ((other << 32) | (uint32_t)low) ^ (a1 * b1 + (cross >> 32) + (other >> 32));
#endif
}

/* Sixteen bytes from kept + 16 - n on keep, by a bitwise and, the first n bytes of sixteen. */
static const uint8_t kept[32] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

/* Words that differ only in zero bytes at their end share a hash: at most sixteen such words can exist. */
static inline void hash_short(Word *w, const HashKey *key) { w->hash = fold(w->low ^ key->low, w->high ^ key->high); }

/* Fill in the numbers and the hash of a word whose start and length are known. */
static inline void hash_word(Word *w, const HashKey *key) {
    uint8_t head[16] = {0};
    const uint8_t *p = w->start;
    size_t left = w->length;
    memcpy(head, p, left < 16 ? left : 16);
    w->low = load8(head);
    w->high = load8(head + 8);
    hash_short(w, key);
    while (left > 16) {
        p += 16;
        left -= 16;
        memset(head, 0, 16);
        memcpy(head, p, left < 16 ? left : 16);
        w->hash = fold(load8(head) ^ key->low, load8(head + 8) ^ w->hash);
    }
}

typedef enum { TEXT_ENDS, TEXT_WORD, TEXT_LINE_ENDS } Token;

/* The next word or line end of [p, end), for any text. */
static Token any_token(const uint8_t **p, const uint8_t *end, int newlines, int complete, const HashKey *key,
                       Word *w) {
    const uint8_t *q = *p;
    size_t space;
    while (q < end) {
        if (*q == '\n' && newlines) {
            *p = q + 1;
            return TEXT_LINE_ENDS;
        }
        space = space_length(q, end);
        if (space) {
            q += space;
            continue;
        }
        *p = q;
        w->start = q;
        q = word_end(q, end);
        if (q == end && !complete) return TEXT_ENDS;
        w->length = q - w->start;
        hash_word(w, key);
        *p = q;
        return TEXT_WORD;
    }
    *p = q;
    return TEXT_ENDS;
}

/* The next word or line end of [p, end).
 *
 * A word that reaches `end` may go on in text still to be read: it counts only if the text is `complete`, else p stays
 * at its start. Without `newlines`, a line end is whitespace like any other. */
static inline Token next_token(const uint8_t **p, const uint8_t *end, int newlines, int complete,
                               const HashKey *key, Word *w) {
#ifdef EIGHT_AT_ONCE
    /* Nearly always: at most one space, then a word of at most sixteen ASCII bytes, then a space or line end. */
    const uint8_t *q = *p;
    if (q < end && *q == ' ') q++;
    if (q < end) {
        const uint64_t low = load8(q), high = load8(q + 8);
        const uint64_t low_marks = mark_ends(low), high_marks = mark_ends(high);
        const uint64_t marks = low_marks ? low_marks : high_marks;
        if (marks) {
            const size_t n = first_byte(marks) + (low_marks ? 0 : 8);
            if (n && q + n < end && (q[n] == ' ' || q[n] == '\n')) {
                w->start = q;
                w->length = n;
                w->low = low & load8(kept + 16 - n);
                w->high = high & load8(kept + 24 - n);
                hash_short(w, key);
                *p = q + n;
                return TEXT_WORD;
            }
        }
    }
#endif
    return any_token(p, end, newlines, complete, key, w);
}

#endif
