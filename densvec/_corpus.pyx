"""Blocks of encoded sentences and the chunks that a seeded sampler draws from them."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.math cimport ldexp

import numpy as np

MAX_WINDOW = MAX_NEGATIVE = 1_000_000


# ------------------------------------------------------------------------------------------------------------
# Random numbers: xoshiro256++ (Blackman & Vigna, 2019), one generator per chunk, seeded by splitmix64.

cdef struct Random:
    uint64_t a, b, c, d


cdef inline uint64_t rotate_left(uint64_t x, int k) noexcept nogil:
    return (x << k) | (x >> (64 - k))


cdef inline uint64_t splitmix(uint64_t *state) noexcept nogil:
    state[0] += 0x9E3779B97F4A7C15ULL
    cdef uint64_t x = state[0]
    x = (x ^ (x >> 30)) * <uint64_t>0xBF58476D1CE4E5B9ULL
    x = (x ^ (x >> 27)) * <uint64_t>0x94D049BB133111EBULL
    return x ^ (x >> 31)


cdef inline Random seeded(uint64_t seed, uint64_t epoch, uint64_t number) noexcept nogil:
    """A generator whose stream depends on all three numbers; each is mixed before the next is added."""
    cdef Random rng
    cdef uint64_t state = seed
    state = splitmix(&state) + epoch
    state = splitmix(&state) + number
    rng.a = splitmix(&state)
    rng.b = splitmix(&state)
    rng.c = splitmix(&state)
    rng.d = splitmix(&state)
    return rng


cdef inline uint64_t draw(Random *rng) noexcept nogil:
    cdef uint64_t result = rotate_left(rng.a + rng.d, 23) + rng.a
    cdef uint64_t t = rng.b << 17
    rng.c ^= rng.a
    rng.d ^= rng.b
    rng.b ^= rng.c
    rng.a ^= rng.d
    rng.c ^= t
    rng.d = rotate_left(rng.d, 45)
    return result


cdef inline uint32_t below(uint64_t bits, uint32_t n) noexcept nogil:
    """An integer in 0..n-1 from the upper half of 64 random bits."""
    return <uint32_t>(((bits >> 32) * n) >> 32)


cdef inline double unit(uint64_t bits) noexcept nogil:
    """A float in [0, 1) from 64 random bits."""
    return (bits >> 11) * (1.0 / 9007199254740992.0)


# ------------------------------------------------------------------------------------------------------------

cdef object frozen(values):
    """`values` as an int32 array that nobody writes to any more."""
    array = np.asarray(values, np.int32).view()
    array.setflags(write=False)
    return array


cdef int64_t count_pairs(const int32_t[::1] sentences, const int32_t[::1] radii) noexcept nogil:
    """The number of (centre, context) pairs: sum of min(r, i-a) + min(r, b-1-i) over all i of [a, b)."""
    cdef Py_ssize_t s, i, a, b
    cdef int64_t pairs = 0
    for s in range(sentences.shape[0] - 1):
        a, b = sentences[s], sentences[s + 1]
        for i in range(a, b):
            pairs += min(<Py_ssize_t>radii[i], i - a) + min(<Py_ssize_t>radii[i], b - 1 - i)
    return pairs


cdef class Block:
    """Encoded sentences in corpus order, before any sampling.

    Parameters
    ----------
    ids : array of int
        Word ids, sentence after sentence; unknown words are left out.
    sentences : array of int
        Sentence i is ``ids[sentences[i]:sentences[i + 1]]``.
    number : int
        The block's place in its epoch, from 0.
    words, examples : int, optional
        Raw words and sentences the block stands for, unknown words included; by default those in it.
    words_before : int
        Raw words of the epoch before this block.
    """

    cdef readonly object ids, sentences
    cdef readonly int64_t number, words, words_before, examples

    def __init__(self, ids, sentences, *, number=0, words=None, words_before=0, examples=None):
        self.ids, self.sentences = frozen(ids), frozen(sentences)
        self.number = number
        self.words = len(self.ids) if words is None else words
        self.words_before = words_before
        self.examples = len(self.sentences) - 1 if examples is None else examples

    def __repr__(self):
        known = len(self.ids)
        return f"Block(number={self.number}, words={self.words}, known={known}, examples={self.examples})"


cdef class Chunk:
    """A run of subsampled tokens with their windows and negatives: all that training sees of a corpus.

    The pairs of a chunk are ordered by centre; the contexts of centre i in the sentence [a, b) are the
    positions j != i from max(a, i - radii[i]) to min(b - 1, i + radii[i]), ascending. All arrays are
    read-only int32.

    Parameters
    ----------
    tokens : array of int, shape (n,)
        Word ids, sentence after sentence.
    sentences : array of int, shape (s + 1,)
        Sentence i is ``tokens[sentences[i]:sentences[i + 1]]``.
    radii : array of int, shape (n,)
        Radius of the window around each position, at least 1.
    negatives : array of int, shape (n, negative) or (pairs, negative)
        Negatives of each centre (``pairing="shared"``) or of each pair (``pairing="paired"``).
    pairing : {"shared", "paired"}
        What a row of `negatives` belongs to.
    epoch, number : int
        The pass over the corpus and the chunk's place in it, both from 0.
    words, examples : int, optional
        Raw words and sentences the chunk stands for; by default those in it.
    words_before : int
        Raw words of this epoch before this chunk.

    Examples
    --------
    >>> chunk = Chunk([7, 3, 9, 4], [0, 3, 4], [1, 1, 2, 1], [[5], [5], [6], [6]], pairing="shared")
    >>> chunk.pairs
    5
    >>> centres, contexts = chunk.centres_and_contexts()
    >>> list(zip(chunk.tokens[centres].tolist(), chunk.tokens[contexts].tolist()))
    [(7, 3), (3, 7), (3, 9), (9, 7), (9, 3)]
    """

    cdef readonly object tokens, sentences, radii, negatives
    cdef readonly str pairing
    cdef readonly int64_t epoch, number, words, words_before, examples, pairs

    def __init__(self, tokens, sentences, radii, negatives, pairing="shared", *, epoch=0, number=0,
                 words=None, words_before=0, examples=None):
        self.tokens, self.sentences, self.radii = frozen(tokens), frozen(sentences), frozen(radii)
        self.negatives = frozen(negatives)
        self.pairs = count_pairs(self.sentences, self.radii)
        self.pairing = pairing
        self.epoch = epoch
        self.number = number
        self.words = len(self.tokens) if words is None else words
        self.words_before = words_before
        self.examples = len(self.sentences) - 1 if examples is None else examples

    @property
    def negative(self):
        """Number of negatives in a row."""
        return self.negatives.shape[1]

    def __len__(self):
        return len(self.tokens)

    def __repr__(self):
        return (
            f"Chunk(epoch={self.epoch}, number={self.number}, words={self.words}, tokens={len(self.tokens)}, "
            f'pairs={self.pairs}, negative={self.negative}, pairing="{self.pairing}")'
        )

    def centres_and_contexts(self):
        """Return the positions of the centre and of the context word of every pair, two int32 arrays."""
        cdef const int32_t[::1] bounds = self.sentences, radii = self.radii
        centre_array, context_array = np.empty(self.pairs, np.int32), np.empty(self.pairs, np.int32)
        cdef int32_t[::1] centres = centre_array, contexts = context_array  # OUT
        cdef Py_ssize_t s, i, j, a, b, pair = 0
        with nogil:
            for s in range(bounds.shape[0] - 1):
                a, b = bounds[s], bounds[s + 1]
                for i in range(a, b):
                    for j in range(max(a, i - radii[i]), min(b, i + radii[i] + 1)):
                        if j != i:
                            centres[pair] = <int32_t>i
                            contexts[pair] = <int32_t>j
                            pair += 1
        return centre_array, context_array


def count_beside(
    Block block not None, const int32_t[::1] rows, const int32_t[::1] columns, int32_t[:, :, ::1] counts
):
    """Count words directly before (``counts[0]``) and after (``counts[1]``) others in a block. No GIL.

    `rows` and `columns` say by word id where a word, and a word beside it, are counted; -1: they are not.
    """
    cdef const int32_t[::1] ids = block.ids, bounds = block.sentences
    cdef Py_ssize_t s, i
    cdef int32_t first, second
    with nogil:
        for s in range(bounds.shape[0] - 1):
            for i in range(bounds[s] + 1, bounds[s + 1]):
                first, second = ids[i - 1], ids[i]
                if columns[first] >= 0 and rows[second] >= 0:
                    counts[0, rows[second], columns[first]] += 1                               # INOUT
                if columns[second] >= 0 and rows[first] >= 0:
                    counts[1, rows[first], columns[second]] += 1


# ------------------------------------------------------------------------------------------------------------

cdef enum:
    COMMON = 16384          # words whose rows are in the cache anyway
    RARE_USES = 4           # of a rarer word that a chunk has drawn
    LEAST_FRESH = 2048      # draws of such words before any is used again


cdef struct Cell:
    uint32_t threshold      # the cell's own word is drawn when 32 random bits are below this
    int32_t alias           # otherwise this one


cdef struct Alias:
    # Words in proportion to weights, in O(1) per draw (Walker's method, Vose's construction).
    const Cell *cells
    uint32_t size
    const double *cumulated     # sums of the weights up to each word


cdef inline int32_t draw_word(const Alias *table, Random *rng) noexcept nogil:
    cdef uint64_t bits = draw(rng)
    cdef uint32_t word = below(bits, table.size)
    cdef Cell cell = table.cells[word]
    # word if bits < threshold else alias, by a mask of ones or zeros: a branch on it could not be predicted
    cdef uint32_t own = 0 - <uint32_t>(<uint32_t>bits < cell.threshold)
    return <int32_t>((word & own) | (<uint32_t>cell.alias & ~own))


cdef int32_t draw_around(const Alias *table, int32_t word, Random *rng) noexcept nogil:
    """A draw from the weights without `word`'s, which has most: inverts the sums with its share cut out."""
    cdef const double *c = table.cumulated
    cdef double start = c[word - 1] if word else 0.0
    cdef double point = unit(draw(rng)) * (c[table.size - 1] - (c[word] - start))
    if point >= start:
        point += c[word] - start
    cdef Py_ssize_t low = 0, high = table.size - 1, middle
    while low < high:                       # the first sum above `point`
        middle = (low + high) // 2
        if c[middle] > point:
            high = middle
        else:
            low = middle + 1
    return <int32_t>low


cdef inline int32_t draw_except(const Alias *table, int32_t word, Random *rng) noexcept nogil:
    """A draw from the weights without `word`'s; some other word must have weight."""
    cdef int32_t drawn
    cdef int _
    for _ in range(16):
        drawn = draw_word(table, rng)
        if drawn != word:
            return drawn
    return draw_around(table, word, rng)


cdef object alias_cells(weights):
    """The cells of an alias table, as an array of (threshold, alias)."""
    cdef Py_ssize_t size = len(weights), n_poor = 0, n_rich = 0, i
    cell_array = np.zeros((size, 2), np.uint32)
    cdef uint32_t[:, ::1] cells = cell_array                        # OUT
    cdef double[::1] scaled = weights * (size / weights.sum())      # INOUT
    cdef int32_t[::1] poor = np.empty(size, np.int32)               # TMP: cells below the average weight
    cdef int32_t[::1] rich = np.empty(size, np.int32)               # TMP
    cdef int32_t p, r
    with nogil:
        for i in range(size):
            cells[i, 0] = 0xFFFFFFFFU
            cells[i, 1] = <uint32_t>i
            if scaled[i] < 1.0:
                poor[n_poor] = <int32_t>i
                n_poor += 1
            else:
                rich[n_rich] = <int32_t>i
                n_rich += 1
        while n_poor and n_rich:
            n_poor -= 1
            p, r = poor[n_poor], rich[n_rich - 1]
            cells[p, 0] = <uint32_t>ldexp(scaled[p], 32)
            cells[p, 1] = <uint32_t>r
            scaled[r] -= 1.0 - scaled[p]
            if scaled[r] < 1.0:
                n_rich -= 1
                poor[n_poor] = r
                n_poor += 1
    return cell_array


cdef Alias alias_of(object cell_array) except *:
    """Describe cells, which must outlive it."""
    cdef const uint32_t[:, ::1] cells = cell_array
    return Alias(cells=<const Cell *>&cells[0, 0], size=<uint32_t>cells.shape[0], cumulated=NULL)


cdef int draw_shared(int32_t[:, ::1] negatives, const Alias *noise, const Alias *rare, Random rng) except -1:
    """Negatives of each centre; `rng` is a copy, which the compiler can keep in registers.

    The last word of `noise` stands for all of `rare`, unless that is empty. Most draws of rare words repeat
    one of the chunk's first ones, whose rows are in the cache then; each draw is by the weights all the same.
    """
    cdef Py_ssize_t i, n = negatives.shape[0] * negatives.shape[1], places = 0, fresh
    cdef int32_t *out = &negatives[0, 0]                            # OUT
    cdef Alias table = noise[0]
    if rare.size == 0:
        with nogil:
            for i in range(n):
                out[i] = draw_word(&table, &rng)
        return 0
    cdef int32_t word, first = <int32_t>noise.size - 1
    cdef int64_t[::1] place = np.empty(n + 1, np.int64)             # TMP: of the draws that are rare words
    cdef int32_t[::1] drawn = np.empty(n, np.int32)                 # TMP: rare words
    with nogil:
        for i in range(n):
            word = draw_word(&table, &rng)
            out[i] = word
            place[places] = i  # which stays if the number of places moves on: no branch, as above
            places += word == first
        fresh = min(places, max(<Py_ssize_t>LEAST_FRESH, places // RARE_USES))
        table = rare[0]
        for i in range(fresh):
            drawn[i] = first + draw_word(&table, &rng)
            out[place[i]] = drawn[i]
        for i in range(fresh, places):
            out[place[i]] = drawn[below(draw(&rng), <uint32_t>fresh)]
    return 0


cdef int draw_paired(int32_t[:, ::1] negatives, const int32_t[::1] tokens, const int32_t[::1] bounds,
                     const int32_t[::1] radii, const Alias *noise, Random rng) except -1:
    """Negatives of each pair, never the context word itself."""
    cdef Py_ssize_t s, i, j, _, a, b, n = negatives.shape[1]
    cdef int32_t *out = &negatives[0, 0]                            # OUT
    cdef Alias table = noise[0]
    with nogil:
        for s in range(bounds.shape[0] - 1):
            a, b = bounds[s], bounds[s + 1]
            for i in range(a, b):
                for j in range(max(a, i - radii[i]), min(b, i + radii[i] + 1)):
                    if j != i:
                        for _ in range(n):
                            out[0] = draw_except(&table, tokens[j], &rng)
                            out += 1
    return 0


cdef class Sampler:
    """Draws chunks from blocks: subsampling, window radii and negatives.

    Everything drawn depends on the seed, the epoch and the block's number alone, in this order: the tokens
    that stay, then the radii, then the negatives; so changing a later law leaves the earlier draws as they
    were.

    Parameters
    ----------
    keep : array of float, shape (V,)
        Probability of keeping an occurrence of each word.
    noise : array of float, shape (V,)
        Weight of each word among the negatives.
    window : int
        Largest distance between a centre and a context word, after subsampling.
    shrink_windows : bool
        Draw each radius uniformly from 1..window (True, as word2vec does) or use `window` throughout.
    negative : int
        Negatives per pair or per centre.
    pairing : {"shared", "paired"}
        "paired": `negative` of them for each pair, never the context word they are paired with;
        "shared": `negative` of them for each centre.
    seed : int
        Seed of all draws.

    Examples
    --------
    >>> sampler = Sampler([1.0] * 5, [1.0] * 5, window=2, negative=3, pairing="shared", seed=1)
    >>> sampler.sample(Block([0, 1, 2, 3, 4], [0, 3, 5]), epoch=0)
    Chunk(epoch=0, number=0, words=5, tokens=5, pairs=..., negative=3, pairing="shared")
    """

    cdef readonly Py_ssize_t size
    cdef readonly int32_t window, negative
    cdef readonly bint shrink_windows
    cdef readonly str pairing
    cdef readonly object seed
    cdef object thresholds, cells, rare_cells, cumulated    # own the memory behind `noise` and `rare`
    cdef Alias noise, rare       # see `draw_shared`; `rare` is empty, and `noise` all there is, for pairs
    cdef uint64_t seed_bits
    cdef int64_t sole            # the only word with noise weight, or -1

    def __init__(self, keep, noise, *, window=5, shrink_windows=True, negative=1, pairing="shared", seed=1):
        keep, noise = np.asarray(keep, np.float64), np.asarray(noise, np.float64)
        if not (keep >= 0).all():
            raise ValueError(f"keep must hold probabilities, found {keep.min()}")
        if not (noise >= 0).all() or not 1e-300 < noise.sum() < np.inf:  # or their shares would overflow
            raise ValueError("noise must hold finite, non-negative weights that are not all (nearly) zero")
        weighted = np.flatnonzero(noise)
        self.sole = weighted[0] if len(weighted) == 1 else -1
        self.size = keep.size
        self.window = window
        self.negative = negative
        self.shrink_windows = shrink_windows
        self.pairing = pairing
        self.seed = seed
        self.seed_bits = int(seed) & 0xFFFFFFFFFFFFFFFF
        # 2**32 stands for "always": 32 random bits are below it whatever they are.
        self.thresholds = (np.minimum(keep, 1.0) * 4294967296.0).astype(np.uint64)
        if pairing == "shared" and noise[COMMON:].sum() > 1e-300:
            self.rare_cells = alias_cells(noise[COMMON:])
            self.rare = alias_of(self.rare_cells)
            noise = np.append(noise[:COMMON], noise[COMMON:].sum())
        self.cells, self.cumulated = alias_cells(noise), np.cumsum(noise)
        cdef const double[::1] cumulated = self.cumulated
        self.noise = alias_of(self.cells)
        self.noise.cumulated = &cumulated[0]

    def sample(self, Block block not None, int64_t epoch):
        """Return the chunk of a block in an epoch. Holds the GIL only to allocate."""
        cdef Random rng = seeded(self.seed_bits, <uint64_t>epoch, <uint64_t>block.number)
        cdef const int32_t[::1] ids = block.ids, block_bounds = block.sentences
        cdef const uint64_t[::1] thresholds = self.thresholds
        token_array = np.empty(ids.shape[0], np.int32)
        bound_array = np.empty(block_bounds.shape[0], np.int32)
        cdef int32_t[::1] tokens = token_array, bounds = bound_array    # OUT
        cdef Py_ssize_t n = 0, s = 0, k, i, size = self.size
        cdef int32_t word = 0
        cdef bint unknown = False
        with nogil:
            # [word for word in sentence if rng.random() < keep[word]], by sentences, without empty ones;
            # every token is written, and stays if n moves on: a branch on it could not be predicted
            bounds[0] = 0
            for k in range(block_bounds.shape[0] - 1):
                for i in range(block_bounds[k], block_bounds[k + 1]):
                    word = ids[i]
                    if not 0 <= word < size:
                        unknown = True
                        break
                    tokens[n] = word
                    n += (draw(&rng) >> 32) < thresholds[word]
                if unknown:
                    break
                if n > bounds[s]:
                    s += 1
                    bounds[s] = <int32_t>n
        if unknown:
            raise ValueError(
                f"block {block.number} holds word id {word}, but the sampler knows {self.size} words"
            )
        # A view would keep the larger buffer alive; a copy of the kept tokens costs less than a token's draw.
        token_array, bound_array = token_array[:n].copy(), bound_array[: s + 1].copy()
        radius_array = np.empty(n, np.int32)
        cdef int32_t[::1] radii = radius_array                          # OUT
        cdef int64_t pairs
        tokens, bounds = token_array, bound_array
        with nogil:
            if self.shrink_windows:
                for i in range(n):
                    radii[i] = 1 + below(draw(&rng), self.window)
            else:
                for i in range(n):
                    radii[i] = self.window
            pairs = count_pairs(bounds, radii)
        cdef bint paired = self.pairing == "paired"
        negative_array = np.empty((pairs if paired else n, self.negative), np.int32)
        if negative_array.size:
            if not paired:
                draw_shared(negative_array, &self.noise, &self.rare, rng)
            elif self.sole >= 0:
                raise ValueError(
                    f"paired negatives must differ from their positive, but only word {self.sole} has noise "
                    'weight: use more words or pairing="shared"'
                )
            else:
                draw_paired(negative_array, tokens, bounds, radii, &self.noise, rng)

        return Chunk(
            token_array, bound_array, radius_array, negative_array, self.pairing, epoch=epoch,
            number=block.number, words=block.words, words_before=block.words_before, examples=block.examples,
        )
