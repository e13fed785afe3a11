/* A hash table from words (byte strings) to 64-bit values, in order of insertion: open addressing over an arena. */
#ifndef DENSVEC_WORDTABLE_H
#define DENSVEC_WORDTABLE_H

#include <stdlib.h>
#include "_tokens.h"

typedef struct {
    uint64_t low, high; /* as in Word: the arena is looked at only for words longer than sixteen bytes */
    size_t length;
    int64_t value;
    size_t offset; /* of the word's bytes in the arena */
    uint64_t hash;
} WordEntry;

typedef struct {
    uint32_t tag;   /* upper half of the hash: most other words are told apart without leaving the slot */
    uint32_t entry; /* number of the entry plus one, 0 for an empty slot */
} WordSlot;

typedef struct {
    HashKey key; /* of the hashes of all words that are looked up in it */
    WordSlot *slots;
    size_t mask; /* number of slots minus one; there are at least twice as many slots as entries */
    WordEntry *entries;
    size_t size, entry_capacity;
    uint8_t *arena;
    size_t arena_size, arena_capacity;
} WordTable;

static inline void wordtable_free(WordTable *t) {
    free(t->slots);
    free(t->entries);
    free(t->arena);
    memset(t, 0, sizeof *t);
}

/* Make an empty table; its key must be set. */
static inline int wordtable_init(WordTable *t) {
    const HashKey key = t->key;
    memset(t, 0, sizeof *t);
    t->key = key;
    t->mask = (1 << 14) - 1;
    t->slots = (WordSlot *)calloc(t->mask + 1, sizeof(WordSlot));
    return t->slots ? 0 : -1;
}

static inline void wordtable_place(WordTable *t, uint64_t hash, uint32_t entry) {
    size_t i = hash & t->mask;
    while (t->slots[i].entry) i = (i + 1) & t->mask;
    t->slots[i].tag = (uint32_t)(hash >> 32);
    t->slots[i].entry = entry + 1;
}

/* Put every entry into empty slots again. */
static inline void wordtable_place_all(WordTable *t) {
    size_t i;
    for (i = 0; i < t->size; i++) wordtable_place(t, t->entries[i].hash, (uint32_t)i);
}

/* Double the slots; -1 when memory is short. */
static inline int wordtable_widen(WordTable *t) {
    const size_t slots = 2 * (t->mask + 1);
    WordSlot *fresh = (WordSlot *)calloc(slots, sizeof(WordSlot));
    if (!fresh) return -1;
    free(t->slots);
    t->slots = fresh;
    t->mask = slots - 1;
    wordtable_place_all(t);
    return 0;
}

/* The entry of a word, or NULL. */
static inline WordEntry *wordtable_find(const WordTable *t, const Word *w) {
    size_t i = w->hash & t->mask;
    const uint32_t tag = (uint32_t)(w->hash >> 32);
    for (; t->slots[i].entry; i = (i + 1) & t->mask) {
        if (t->slots[i].tag == tag) {
            WordEntry *e = t->entries + t->slots[i].entry - 1;
            if (!((e->low ^ w->low) | (e->high ^ w->high) | (e->length ^ w->length)) &&
                (w->length <= 16 || !memcmp(t->arena + e->offset, w->start, w->length)))
                return e;
        }
    }
    return NULL;
}

/* A new entry, with value 0, for a word that is not in the table; NULL when memory is short. Rare, so a function of its own. */
static WordEntry *wordtable_insert(WordTable *t, const Word *w) {
    WordEntry *e;
    if (t->size >= 0x7FFFFFFF) return NULL;
    if (2 * (t->size + 1) > t->mask + 1 && wordtable_widen(t)) return NULL;
    if (t->size == t->entry_capacity) {
        size_t capacity = t->entry_capacity ? 2 * t->entry_capacity : 512;
        WordEntry *entries;
        if (capacity > SIZE_MAX / sizeof(WordEntry)) return NULL;
        entries = (WordEntry *)realloc(t->entries, capacity * sizeof(WordEntry));
        if (!entries) return NULL;
        t->entries = entries;
        t->entry_capacity = capacity;
    }
    if (w->length > t->arena_capacity - t->arena_size) {
        size_t capacity = 2 * t->arena_capacity + w->length + 4096;
        uint8_t *arena = (uint8_t *)realloc(t->arena, capacity);
        if (!arena) return NULL;
        t->arena = arena;
        t->arena_capacity = capacity;
    }
    memcpy(t->arena + t->arena_size, w->start, w->length);
    wordtable_place(t, w->hash, (uint32_t)t->size);
    e = t->entries + t->size++;
    e->low = w->low;
    e->high = w->high;
    e->length = w->length;
    e->offset = t->arena_size;
    e->hash = w->hash;
    e->value = 0;
    t->arena_size += w->length;
    return e;
}

/* The entry of a word, new with value 0 if there was none; NULL when memory is short. */
static inline WordEntry *wordtable_add(WordTable *t, const Word *w) {
    WordEntry *e = wordtable_find(t, w);
    if (e) return e;
    return wordtable_insert(t, w);
}

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#endif

/* How many words are looked up together: their slots, then their entries, arrive from memory at the same time. */
#define WORD_BATCH 32

static inline void wordtable_prefetch(const WordTable *t, const Word *words, int n) {
    int i;
    for (i = 0; i < n; i++) PREFETCH(t->slots + (words[i].hash & t->mask));
    for (i = 0; i < n; i++) {
        const uint32_t entry = t->slots[words[i].hash & t->mask].entry;
        if (entry) PREFETCH(t->entries + entry - 1);
    }
}

/* The most slots that a search passes before it finds a word of the table. */
static inline size_t wordtable_longest_search(const WordTable *t) {
    size_t i, longest = 0;
    for (i = 0; i <= t->mask; i++) {
        if (t->slots[i].entry) {
            const size_t passed = (i - t->entries[t->slots[i].entry - 1].hash) & t->mask;
            if (passed > longest) longest = passed;
        }
    }
    return longest;
}

/* Add one to the value of each of n words; -1 when memory is short. */
static inline int wordtable_count(WordTable *t, const Word *words, int n) {
    int i;
    wordtable_prefetch(t, words, n);
    for (i = 0; i < n; i++) {
        WordEntry *e = wordtable_add(t, words + i);
        if (!e) return -1;
        e->value++;
    }
    return 0;
}

/* Write the values of n words, -1 for those that are not in the table. */
static inline void wordtable_values(const WordTable *t, const Word *words, int n, int32_t *values) {
    int i;
    wordtable_prefetch(t, words, n);
    for (i = 0; i < n; i++) {
        const WordEntry *e = wordtable_find(t, words + i);
        values[i] = e ? (int32_t)e->value : -1;
    }
}

/* Drop the entries whose keep[] is 0 and close the gaps, in entries and arena; the order stays. */
static inline void wordtable_prune(WordTable *t, const uint8_t *keep) {
    size_t i, kept = 0, arena = 0;
    for (i = 0; i < t->size; i++) {
        if (keep[i]) {
            WordEntry e = t->entries[i];
            memmove(t->arena + arena, t->arena + e.offset, e.length);
            e.offset = arena;
            arena += e.length;
            t->entries[kept++] = e;
        }
    }
    t->size = kept;
    t->arena_size = arena;
    memset(t->slots, 0, (t->mask + 1) * sizeof(WordSlot));
    wordtable_place_all(t);
}

#endif
