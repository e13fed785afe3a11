"""What a step of the Bayesian Skip-gram works on: every function of the kernel takes one `Step`."""

from densvec.native._loops cimport Loops
from densvec.native._vector cimport REAL, Descent, RoundedProduct
from densvec.native._windows cimport Windows

cdef enum:
    WEIGHTS = 6     # arrays of encoder weights

cdef enum:          # which is which
    CONTEXT_LAYER, CENTRE_LAYER, MEAN_HEAD, MEAN_BIAS, VARIANCE_HEAD, VARIANCE_BIAS


cdef struct Tables:              # arrays borrowed from wv: what is trained, or where its gradients go
    REAL* means                  # (V, D)
    REAL* log_variances          # (V, spread)
    size_t mean_row              # numbers from one row of the means to the next
    size_t log_variance_row      # and of the log-variances
    REAL* embeddings             # (V, E)
    REAL* weights[WEIGHTS]

cdef struct Optimiser:           # its accumulators, borrowed as well
    REAL* squares                # (V,) Adagrad's sums for the embeddings
    REAL* first[WEIGHTS]         # Adam's moments
    REAL* second[WEIGHTS]
    long long* steps             # Adam's
    REAL* typical                # (2,) stretch and log-variance of the typical word: see `cover`

cdef struct Rates:
    double mean
    double damping               # a mean's rate is divided by 1 + damping * curvature
    double coverage              # of log-variances by their stretch
    double embedding
    double encoder
    Descent contrast             # how the hinge moves positives and negatives
    Descent prior                # how the divergence from the prior moves the centre's word

cdef struct Limits:              # the same for every model
    double prior_low             # bounds of the priors' log-variances
    double prior_high
    double longest_step          # of a log-variance at once
    double largest_loss          # of a typical word's sums
    double most_pushes           # that a centre's negatives give one word, undamped
    double memory                # centres that the typical word is a running mean over
    double shrink                # how strongly coverage draws log-variances to the typical one
    int scored                   # at one position of this many a narrowing posterior is scored

cdef struct Tile:                # the centres first..last-1
    int first
    int last
    int low                      # first position that their windows reach
    int distinct                 # words in their windows

cdef struct Rows:                # where the words stand that one centre is compared with
    int negatives                # how many there are; they stand first
    int first                    # of the positives, the first of a block of LANES
    int centre                   # itself, behind the positives

cdef struct Posterior:           # q of one centre, in the tile's arrays
    REAL* mean                   # (D,)
    REAL* log_variance           # (spread,)
    REAL* variance               # (spread,)
    REAL* d_mean
    REAL* d_log_variance

cdef struct Totals:
    double hinge
    double kl
    long long centres

cdef struct Scratch:             # TMP, one per worker: pointers only; zeros fill rows up to whole vectors
    REAL* layers                 # (E, 2, units) the layers of contexts and of centres, side by side
    REAL* heads                  # (units, outputs) those of means and of log-variances
    REAL* biases                 # (outputs,)
    REAL* turned                 # one of both, transposed
    unsigned int* left           # both sides of a rounded product, packed
    unsigned int* right
    int* slots                   # (tile + halo,) which of the tile's distinct words stands at each position
    int* words                   # (distinct,) their ids
    int* places                  # hash table of words to slots, at most 4 places per position; -1: free
    REAL* inputs                 # (distinct, E); their gradients replace them on the way back
    REAL* projected              # (distinct, 2, units) each word as a context, then as a centre
    REAL* weightings             # (tile, widest + 1) how much each position of a window counts in its sum
    REAL** reads                 # (tile,) which of them a centre's is: the same where windows are alike
    REAL* scales                 # (tile,) by how much its sum is multiplied, in them
    REAL* hidden                 # (tile, units); its gradient replaces it
    REAL* posteriors             # (tile, outputs) mean, then log-variance
    REAL* variance               # (spread,) of one centre's posterior
    REAL* prior_variance         # (spread,) of its prior, where it narrows that
    REAL* narrowing              # (tile, spread) precisions over the priors'; then the slopes of their scores
    REAL* narrowing_slope        # (tile, spread) of those precisions, by the columns of the log-variances
    REAL* narrowed               # (tile, spread) their logarithms, below 0
    REAL* steepness              # (spread,) curvature of its hinge in its mean: see `move_centre`
    REAL* d_layers
    REAL* d_heads
    REAL* d_projected
    REAL* d_posteriors
    REAL* d_weights[WEIGHTS]
    int* rows                    # words that one centre is compared with; see Rows
    int* active                  # (rows,) which of them have a share in the loss
    REAL** addresses             # (rows,) of their means
    REAL** into                  # (rows,) where those change
    REAL** coming                # (rows,) of the means that the next centre needs as well
    REAL* row_log_variances      # (rows,) spherical only
    REAL* precisions             # (rows,) or (rows, D): 1 / variance
    REAL* distances              # (rows,) squared, spherical only, as the next three
    REAL* gains
    REAL* steps
    REAL* moves
    REAL* weights                # (rows,) of the positives
    REAL* scores                 # (rows,) KL[q || row] up to q's entropy
    REAL* shares                 # (rows,) derivative of the loss by the score

cdef struct Step:                # everything that a step needs
    const Loops* loops
    RoundedProduct rounded       # the encoder's matrix products, of rounded numbers, unless NULL
    int size                     # D, of the densities
    int spread                   # numbers in a log-variance: 1 (spherical) or D (diagonal)
    int inputs                   # E, of the encoder's embeddings
    int hidden                   # H
    size_t units                 # H in whole vectors: the row of a layer
    size_t embeds                # E in whole vectors
    size_t outputs               # D + spread in whole vectors: the row of the heads
    int lengths[WEIGHTS]
    int at_once                  # steps of the encoder that workers take, each on chunks of its own
    bint residual                # whether a posterior is its prior, shifted by the encoder
    int window                   # words on either side; this and the next three: `densvec.reading.Reading`
    double nearness              # how much more near words count in the encoder's sum
    double saturation            # words after which a context has said half of what it can
    bint narrows                 # whether a posterior has its prior's variance, narrowed by the context
    double most_narrowing        # by which its precision can exceed its prior's
    double low                   # bounds of a posterior's log-variance
    double high
    double margin
    double kl_weight
    double largest_loss          # of a centre; one that exceeds it has diverged
    Tables tables                # what is compared
    Tables into                  # what changes: the same, or gradients
    bint trains                  # the same
    bint side_by_side            # whether a word's log-variance follows its mean, in its row
    bint whole                   # whether rows of the means can be read and written for whole vectors
    bint measures                # nothing changes: only the loss is asked for
    const REAL* company          # (V,) what coverage expects less of the words around each, as a share
    Optimiser optimiser
    REAL typical[2]              # the optimiser's, as the tile began
    Limits limits
    Rates rates
    Windows windows
    Tile tile
    Rows rows
    Posterior q
    Scratch* scratch
    Totals totals
