/* libFuzzer on the C code that reads text: `make fuzz-native`. Its laws:
 *
 * - what is left of a text without its faults is UTF-8, and they are as many as counted;
 * - text read in two pieces has the words of the text read whole;
 * - a table holds every word, as often as it came, also after rare ones were dropped, whatever its key;
 * - raw text becomes the same tokens in pieces of any length, which are UTF-8 and fit the room they are promised.
 *
 * The sanitizers watch that nothing reads or writes beyond its memory: every buffer is exactly as long as promised.
 */
#include <stdlib.h>
#include "_raw.h"
#include "_wordtable.h"

#define REQUIRE(law) \
    if (!(law)) abort()

static uint8_t *copied(const uint8_t *data, size_t size) {
    uint8_t *copy = (uint8_t *)malloc(size + TOKEN_PADDING);
    REQUIRE(copy);
    if (size) memcpy(copy, data, size);
    memset(copy + size, 0xA5, TOKEN_PADDING);
    return copy;
}

/* The parts of a text that are UTF-8, one after the other, with padding behind them. */
static uint8_t *valid_parts(const uint8_t *data, size_t size, size_t *length) {
    uint8_t *text = copied(data, size), *out = copied(data, size);
    const uint8_t *p = text, *end = text + size;
    int64_t faults = 0;
    *length = 0;
    while (p < end) {
        const uint8_t *stop = utf8_valid_until(p, end);
        memcpy(out + *length, p, stop - p);
        *length += stop - p;
        if (stop < end) {
            const int bad = utf8_sequence(stop, end);
            REQUIRE(bad <= 0 && bad > -4);
            stop = bad ? stop - bad : end;
            faults++;
        }
        p = stop;
    }
    REQUIRE(faults == utf8_faults(text, end));
    REQUIRE(utf8_valid_until(out, out + *length) == out + *length);
    free(text);
    return out;
}

/* Count the words of a text that comes in two pieces. */
static size_t count_words(WordTable *table, const uint8_t *text, size_t size, size_t cut, int newlines, size_t *lines) {
    const uint8_t *p = text, *stop = text + cut;
    size_t words = 0;
    *lines = 0;
    for (;;) {
        Word word;
        const Token token = next_token(&p, stop, newlines, stop == text + size, &table->key, &word);
        REQUIRE(p <= stop);
        if (token == TEXT_ENDS) {
            if (stop == text + size) return words;
            stop = text + size;
        } else if (token == TEXT_LINE_ENDS) {
            ++*lines;
        } else {
            REQUIRE(word.length > 0 && word.start >= text && word.start + word.length <= text + size);
            REQUIRE(wordtable_count(table, &word, 1) == 0);
            words++;
        }
    }
}

static void check_words(const uint8_t *text, size_t size, size_t cut, uint64_t seed) {
    WordTable whole, pieces;
    size_t words, lines, again, other_lines, i, total = 0;
    uint8_t *keep;
    whole.key.low = seed;
    whole.key.high = ~seed | 1;
    pieces.key.low = seed * 0x9E3779B97F4A7C15ULL;
    pieces.key.high = 1;
    REQUIRE(!wordtable_init(&whole) && !wordtable_init(&pieces));
    words = count_words(&whole, text, size, size, (int)(seed & 1), &lines);
    again = count_words(&pieces, text, size, cut, (int)(seed & 1), &other_lines);
    REQUIRE(words == again && lines == other_lines && whole.size == pieces.size);
    for (i = 0; i < whole.size; i++) {
        const WordEntry *a = whole.entries + i, *b = pieces.entries + i;
        REQUIRE(a->value == b->value && a->length == b->length);
        REQUIRE(!memcmp(whole.arena + a->offset, pieces.arena + b->offset, a->length));
        total += a->value;
    }
    REQUIRE(total == words);
    keep = (uint8_t *)malloc(whole.size + 1);
    REQUIRE(keep);
    for (i = 0; i < whole.size; i++) keep[i] = whole.entries[i].value > 1;
    if (whole.size) wordtable_prune(&whole, keep);
    for (i = 0; i < pieces.size; i++) {
        Word word;
        const WordEntry *found;
        word.start = pieces.arena + pieces.entries[i].offset;
        word.length = pieces.entries[i].length;
        hash_word(&word, &whole.key);
        found = wordtable_find(&whole, &word);
        REQUIRE((found != NULL) == (pieces.entries[i].value > 1));
        REQUIRE(!found || found->value == pieces.entries[i].value);
    }
    free(keep);
    wordtable_free(&whole);
    wordtable_free(&pieces);
}

/* Characters of all kinds, also those that are longer in lower case. */
static const RawPage *page_of(int number) {
    static RawPage *pages[RAW_PAGES];
    if (!pages[number]) {
        int i;
        pages[number] = (RawPage *)calloc(1, sizeof(RawPage));
        REQUIRE(pages[number]);
        for (i = 0; i < 256; i++) {
            const uint32_t c = (uint32_t)number * 256 + i;
            static const uint8_t kinds[] = {LETTER, LETTER | LOWERCASE, DIGIT, MARK, SPACE, SENTENCE_END, JOINER, 0};
            pages[number]->kind[i] = c == '\n' ? SPACE : kinds[(c * 2654435769u) >> 29];
            pages[number]->lower[i] = c == 0x23A ? 0x2C65 : c == 0x3A3 ? 0x3C3 : c;
        }
    }
    return pages[number];
}

/* Tokenise raw text piece by piece, delivering nothing in between: the room is what tokenise_raw asks for. */
static uint8_t *tokenised(const uint8_t *data, size_t size, size_t cut, uint64_t seed, size_t *length) {
    static RawState state;
    uint8_t *text = copied(data, size), *out = (uint8_t *)malloc(2 * size + 16);
    const uint8_t *p = text, *stop = text + cut;
    int64_t invalid = 0;
    int page;
    REQUIRE(out);
    memset((char *)&state + offsetof(RawState, lower), 0, sizeof state - offsetof(RawState, lower));
    state.lower = (int)(seed >> 1 & 1);
    state.keep_numbers = (int)(seed >> 2 & 1);
    state.line_ends = (int)(seed >> 3 & 1);
    *length = 0;
    for (;;) {
        page = tokenise_raw(&state, &p, stop, out, length, stop == text + size, &invalid);
        REQUIRE(*length <= 2 * size + 16);
        if (page >= 0)
            state.pages[page] = page_of(page);
        else if (stop == text + size)
            break;
        else
            stop = text + size;
    }
    REQUIRE(p == text + size && invalid >= 0);
    free(text);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint64_t seed;
    size_t cut, length, again;
    uint8_t *text, *other;
    if (size < 9) return 0;
    memcpy(&seed, data, 8);
    data += 8;
    size -= 8;
    cut = seed % (size + 1);
    text = valid_parts(data, size, &length);
    memset(text + length, 0x5A, TOKEN_PADDING);
    check_words(text, length, cut < length ? cut : length, seed);
    free(text);

    text = tokenised(data, size, size, seed, &length);
    other = tokenised(data, size, cut, seed, &again);
    REQUIRE(again == length && !memcmp(text, other, length));
    REQUIRE(utf8_valid_until(text, text + length) == text + length);
    free(text);
    free(other);
    return 0;
}
