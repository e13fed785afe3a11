/* Words and sentences of raw text: one pass over UTF-8, in pieces of any length.
 *
 * What comes out is tokenised text: words separated by a blank, sentences by a line end. The kinds of
 * characters are kept in pages of 256, which Python fills from its own tables when a text first needs them.
 */
#ifndef DENSVEC_RAW_H
#define DENSVEC_RAW_H

#include "_tokens.h"

/* What a character can be. A joiner only stands inside words; a mark modifies the letter before it. */
enum { LETTER = 1, MARK = 2, DIGIT = 4, LOWERCASE = 8, SPACE = 16, SENTENCE_END = 32, JOINER = 64 };

#define RAW_PAGES (0x110000 / 256)
#define LONGEST_RAW_WORD 1000 /* bytes; anything longer is not a word, and is cut */

typedef struct {
    uint8_t kind[256];
    uint32_t lower[256]; /* the character in lower case */
} RawPage;

typedef struct {
    /* settings */
    const RawPage *pages[RAW_PAGES];
    int lower, keep_numbers, line_ends; /* line_ends: every line end ends a sentence, not only a blank line */
    /* state: the word that has begun at out[word], behind its separator at out[before] */
    int in_word, has_letter, letters;
    uint32_t joiner;        /* seen after a character of the word, not written yet */
    uint32_t last;          /* the last character of the word, as it was read */
    size_t before, word;
    /* between words: what ended a sentence, whether white space came after it, line ends since the last word */
    int mark, spaced, lines, due, any;
} RawState;

static inline size_t write_utf8(uint8_t *out, uint32_t c) {
    if (c < 0x80) {
        out[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (uint8_t)(0xC0 | c >> 6);
        out[1] = (uint8_t)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (uint8_t)(0xE0 | c >> 12);
        out[1] = (uint8_t)(0x80 | (c >> 6 & 63));
        out[2] = (uint8_t)(0x80 | (c & 63));
        return 3;
    }
    out[0] = (uint8_t)(0xF0 | c >> 18);
    out[1] = (uint8_t)(0x80 | (c >> 12 & 63));
    out[2] = (uint8_t)(0x80 | (c >> 6 & 63));
    out[3] = (uint8_t)(0x80 | (c & 63));
    return 4;
}

/* Whether a full stop after this word is likely to be part of it: an initial, or a common abbreviation. */
static int is_abbreviation(const uint8_t *word, size_t length, int letters) {
    static const char *const known[] = {"mr",  "mrs",  "ms",  "dr",  "st",  "prof", "vs",  "no",  "vol", "fig", "jr",
                                        "sr",  "gen",  "col", "sgt", "capt", "lt",  "rev", "hon", "ca",  "cf",  "approx"};
    size_t i, j;
    if (letters == 1) return 1;
    for (i = 0; i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i]) != length) continue;
        for (j = 0; j < length && (word[j] | 0x20) == (uint8_t)known[i][j]; j++) {
        }
        if (j == length) return 1;
    }
    return 0;
}

/* End the current word, if there is one: keep it or discard it. */
static inline size_t end_word(RawState *s, uint8_t *out, size_t n) {
    if (!s->in_word) return n;
    s->in_word = 0;
    if (!s->has_letter && !s->keep_numbers) {
        s->mark = s->spaced = s->lines = 0;
        return s->before;
    }
    /* A capital sigma at the end of a word of several letters becomes the small one that stands there. */
    if (s->lower && s->last == 0x3A3 && s->letters > 1) n = n - 2 + write_utf8(out + n - 2, 0x3C2);
    s->any = 1;
    s->due = s->mark = s->spaced = s->lines = 0;
    return n;
}

static inline size_t begin_word(RawState *s, uint8_t *out, size_t n, int kind) {
    s->before = n;
    if (s->mark && s->spaced && !(kind & LOWERCASE)) s->due = 1;
    if (s->any) out[n++] = s->due ? '\n' : ' ';
    s->word = n;
    s->in_word = 1;
    s->has_letter = s->letters = 0;
    s->joiner = 0;
    return n;
}

/* What a character between words says about where sentences end. */
static inline void between_words(RawState *s, uint32_t c, int kind) {
    if (kind & SENTENCE_END) {
        s->mark = 1;
        s->spaced = c >= 0x3000; /* the full stops of Chinese and Japanese need no space after them */
    } else if (kind & SPACE) {
        s->spaced = 1;
        if (c == '\n' && (s->lines || s->line_ends)) s->due = 1;
        if (c == '\n') s->lines = 1; /* further ones make no difference */
    }
}

/* Tokenise text: [*p, end) is read, tokens are written to out[*n:], which needs room for twice as many bytes plus 16.
 *
 * Returns -1 when all was read, or the number of a page that it needs; fill it and call again. A
 * sequence that is not UTF-8 separates words; one that is cut off by `end` is left unread, unless the text is
 * `complete`. `invalid` counts the former. */
static int tokenise_raw(RawState *s, const uint8_t **p, const uint8_t *end, uint8_t *out, size_t *size, int complete,
                        int64_t *invalid) {
    const uint8_t *q = *p;
    size_t n = *size;
    int page = -1;
    while (q < end) {
        uint32_t c = *q;
        int length = 1, bad = 0, kind;
        uint32_t lowered;
        const RawPage *known;
        if (c >= 0x80) {
            length = utf8_sequence(q, end);
            if (length == 0 && !complete) break;
            if (length <= 0) {
                length = length ? -length : (int)(end - q);
                c = 0xFFFD;
                bad = 1;
            } else if (length == 2) {
                c = (c & 31) << 6 | (q[1] & 63);
            } else if (length == 3) {
                c = (c & 15) << 12 | (q[1] & 63) << 6 | (q[2] & 63);
            } else {
                c = (c & 7) << 18 | (uint32_t)(q[1] & 63) << 12 | (q[2] & 63) << 6 | (q[3] & 63);
            }
        }
        known = s->pages[c >> 8];
        if (!known) {
            page = (int)(c >> 8);
            break;
        }
        q += length;
        *invalid += bad;
        if (c == 0xAD) continue; /* a soft hyphen counts as nothing */
        kind = known->kind[c & 255];
        lowered = s->lower ? known->lower[c & 255] : c;
        if (s->in_word) {
            if (kind & (LETTER | DIGIT | MARK)) {
                if (s->joiner) {
                    if ((s->joiner == '.' || s->joiner == ',') && !(kind & DIGIT)) {
                        n = end_word(s, out, n); /* "1990.The": no decimal point after all */
                        q -= length;
                        continue;
                    }
                    n += write_utf8(out + n, s->joiner);
                    s->joiner = 0;
                }
                if (kind & LETTER) s->has_letter = 1, s->letters++;
                n += write_utf8(out + n, lowered);
                s->last = c;
                if (n - s->word > LONGEST_RAW_WORD) n = end_word(s, out, n);
                continue;
            }
            if ((kind & JOINER) && !s->joiner) {
                s->joiner = c == 0x2019 ? '\'' : c == 0x2010 || c == 0x2011 ? '-' : c;
                continue;
            }
            if ((c == '.' || c == ',') && !s->joiner && !s->has_letter) { /* 3.14 and 1,000 are numbers */
                s->joiner = c;
                continue;
            }
            {
                const int stop = c == '.' && !s->joiner && is_abbreviation(out + s->word, n - s->word, s->letters);
                const int decimal = s->joiner == '.';
                n = end_word(s, out, n);
                if (decimal) between_words(s, '.', SENTENCE_END);
                if (!stop) between_words(s, c, kind);
            }
            continue;
        }
        if (kind & (LETTER | DIGIT)) {
            n = begin_word(s, out, n, kind);
            if (kind & LETTER) s->has_letter = 1, s->letters = 1;
            n += write_utf8(out + n, lowered);
            s->last = c;
        } else {
            between_words(s, c, kind);
        }
    }
    if (complete && page < 0) n = end_word(s, out, n);
    *p = q;
    *size = n;
    return page;
}

#endif
