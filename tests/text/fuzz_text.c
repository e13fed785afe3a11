/* libFuzzer on the C code that reads text: `make fuzz-native`. Its laws:
 *
 * - text read in two pieces, whatever its bytes, has the words of the text read whole;
 * - a table holds every word, as often as it came, also after rare ones were dropped, whatever its key.
 *
 * The sanitizers watch that nothing reads or writes beyond its memory: every buffer is exactly as long as promised.
 */
#include <stdlib.h>
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint64_t seed;
    uint8_t *text;
    if (size < 9) return 0;
    memcpy(&seed, data, 8);
    data += 8;
    size -= 8;
    text = copied(data, size);
    check_words(text, size, seed % (size + 1), seed);
    free(text);
    return 0;
}
