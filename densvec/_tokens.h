/* Tokens of UTF-8 text: where words end, their hash, and which bytes are not UTF-8.
 *
 * Words are what Python's str.split() finds. Every function may read up to TOKEN_PADDING bytes beyond `end`: the
 * buffers of _text.pyx are allocated that much larger than their text.
 */
#ifndef DENSVEC_TOKENS_H
#define DENSVEC_TOKENS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TOKEN_PADDING 8

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

#if (defined(__GNUC__) || defined(__clang__)) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define EIGHT_AT_ONCE 1
#endif

/* The first whitespace at or after p, or end. */
static inline const uint8_t *word_end(const uint8_t *p, const uint8_t *end) {
#ifdef EIGHT_AT_ONCE
    /* A high bit marks each byte that is below 0x21 or above 0x7F; the lowest mark is always right. */
    while (p < end) {
        const uint64_t x = load8(p);
        const uint64_t marks = ((x - 0x2121212121212121ULL) | x) & 0x8080808080808080ULL;
        if (!marks) {
            p += 8;
            continue;
        }
        p += __builtin_ctzll(marks) >> 3;
        if (p >= end || space_length(p, end)) break;
        p++;
    }
    return p < end ? p : end;
#else
    while (p < end && !space_length(p, end)) p++;
    return p;
#endif
}

/* A 64-bit hash of n bytes: multiply and fold, eight bytes at a time. It only places words in tables: nothing that
 * is saved or seen depends on it, so it may differ between machines. */
static inline uint64_t hash_word(const uint8_t *p, size_t n) {
    uint64_t h = 0x9E3779B97F4A7C15ULL ^ n, x;
    for (; n > 8; p += 8, n -= 8) {
        h = (h ^ load8(p)) * 0xD6E8FEB86659FD93ULL;
        h ^= h >> 32;
    }
#ifdef EIGHT_AT_ONCE
    x = n ? load8(p) & (~0ULL >> (64 - 8 * n)) : 0;
#else
    x = 0;
    memcpy(&x, p, n);
#endif
    h = (h ^ x) * 0xD6E8FEB86659FD93ULL;
    h ^= h >> 32;
    h *= 0xA0761D6478BD642FULL;
    return h ^ (h >> 29);
}

/* The UTF-8 sequence at p: its length if it is valid, minus the length of the bytes that a decoder replaces by one
 * U+FFFD if it is not (the "maximal subpart" of Unicode, as Python does), 0 if the text ends within it. */
static inline int utf8_sequence(const uint8_t *p, const uint8_t *end) {
    const uint8_t lead = p[0];
    const ptrdiff_t left = end - p;
    uint8_t low = 0x80, high = 0xBF; /* bounds of the second byte */
    int length, i;
    if (lead < 0x80) return 1;
    if (lead < 0xC2 || lead > 0xF4) return -1;
    length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
    for (i = 1; i < length; i++) {
        if (i >= left) return 0;
        if (p[i] < low || p[i] > high) return -i;
        low = 0x80;
        high = 0xBF;
    }
    return length;
}

/* The first byte of [p, end) that does not begin a complete valid UTF-8 sequence, or end. */
static inline const uint8_t *utf8_valid_until(const uint8_t *p, const uint8_t *end) {
    int length;
    while (p < end) {
        if (end - p >= 8 && !(load8(p) & 0x8080808080808080ULL)) {
            p += 8;
            continue;
        }
        length = utf8_sequence(p, end);
        if (length <= 0) return p;
        p += length;
    }
    return end;
}

#endif
