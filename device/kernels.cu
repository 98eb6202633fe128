// The kernels of `cuda.py`. All sizes, numbers and offsets are 64 bits wide and count bytes.
//
// Owned here: which thread moves which byte, and the digest, bit for bit that of `digest.py`.
// Not owned: what is in range, and what lands before what. No kernel needs a header, so that the
// low-level NVRTC calls compile them too, and a C++ compiler (with one lane, see `WARP`).

typedef long long i64;
typedef unsigned long long u64;
typedef unsigned char u8;

#ifndef WARP
#define WARP 32  // lanes that share one unit of work; a test without a GPU sets one
#endif

#define COPY_PIECE 4096    // bytes that one warp copies at a time
#define DIGEST_PIECE 1024  // words that one warp adds at a time

#define STEP 0x9E3779B97F4A7C15ull

struct alignas(16) Wide {
    u64 low, high;
};

__device__ i64 get_warp() {
    return ((i64)blockIdx.x * blockDim.x + threadIdx.x) / WARP;
}

__device__ i64 get_warps() {
    return (i64)gridDim.x * blockDim.x / WARP;
}

__device__ i64 get_lane() {
    return threadIdx.x % WARP;
}

__device__ i64 smaller(i64 one, i64 other) {
    return one < other ? one : other;
}

template <typename T>
__device__ void copy_as(u8* __restrict__ target, const u8* __restrict__ source, i64 size) {
    T* to = (T*)target;
    const T* from = (const T*)source;
    const i64 count = size / (i64)sizeof(T);
#pragma unroll 8
    for (i64 at = get_lane(); at < count; at += WARP) to[at] = from[at];
}

// One warp copies a piece in the widest words that source and target have in common: rows may
// begin at any byte, and a wide access must not.
__device__ void copy_piece(u8* target, const u8* source, i64 size) {
    const u64 apart = (u64)target ^ (u64)source;
    const i64 width = apart % 16 == 0 ? 16 : apart % 8 == 0 ? 8 : apart % 4 == 0 ? 4 : 1;
    const i64 head = smaller((width - (i64)((u64)target % width)) % width, size);
    const i64 body = (size - head) / width * width;
    copy_as<u8>(target, source, head);
    target += head;
    source += head;
    if (width == 16) copy_as<Wide>(target, source, body);
    else if (width == 8) copy_as<u64>(target, source, body);
    else if (width == 4) copy_as<unsigned>(target, source, body);
    else copy_as<u8>(target, source, body);
    copy_as<u8>(target + body, source + body, size - head - body);
}

// Copies `items` blocks of `rows` rows. Block `i` begins at `sources[i]` bytes in the source and
// at `targets[i]` in the target. A gather has its targets one after the other, a scatter its
// sources; either side may be mapped host memory.
extern "C" __global__ void copy_blocks(
    const u8* source, u8* target, const i64* sources, const i64* targets, i64 items, i64 rows,
    i64 row_bytes, i64 source_stride, i64 target_stride) {
    const i64 pieces = (row_bytes + COPY_PIECE - 1) / COPY_PIECE;
    const i64 units = items * rows * pieces;
    for (i64 unit = get_warp(); unit < units; unit += get_warps()) {
        const i64 begin = unit % pieces * COPY_PIECE;
        const i64 row = unit / pieces % rows;
        const i64 item = unit / pieces / rows;
        copy_piece(
            target + targets[item] + row * target_stride + begin,
            source + sources[item] + row * source_stride + begin,
            smaller(COPY_PIECE, row_bytes - begin));
    }
}

__device__ u64 mix(u64 word) {
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ull;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBull;
    return word ^ (word >> 31);
}

// Word `at` of rows that are no whole words: gathered byte by byte, zeros behind the last.
__device__ u64 gather_word(
    const u8* page, i64 at, i64 content_bytes, i64 row_bytes, i64 row_stride) {
    u64 word = 0;
    const i64 end = smaller(8, content_bytes - at * 8);
    for (i64 byte = 0; byte < end; ++byte) {
        const i64 index = at * 8 + byte;
        const u64 value = page[index / row_bytes * row_stride + index % row_bytes];
        word |= value << (8 * byte);
    }
    return word;
}

__device__ u64 add_lanes(u64 sum) {
#pragma unroll
    for (int other = WARP / 2; other > 0; other /= 2)
        sum += __shfl_down_sync(0xFFFFFFFFu, sum, other);
    return sum;
}

// Adds the mixed words of each frame to `sums[i]`, which somebody made zero. The order in which
// they are added does not matter: the sum is modulo 2**64.
extern "C" __global__ void digest_sums(
    const u8* frames, const i64* offsets, u64* sums, i64 items, i64 rows, i64 row_bytes,
    i64 row_stride) {
    const i64 content_bytes = rows * row_bytes;
    // Whole words if every row of every frame begins and ends at one; a frame is rows * stride.
    const bool whole = row_bytes % 8 == 0 && row_stride % 8 == 0 && (u64)frames % 8 == 0;
    const i64 lines = whole ? rows : 1;
    const i64 words = whole ? row_bytes / 8 : (content_bytes + 7) / 8;
    const i64 pieces = (words + DIGEST_PIECE - 1) / DIGEST_PIECE;
    const i64 units = items * lines * pieces;
    for (i64 unit = get_warp(); unit < units; unit += get_warps()) {
        const i64 begin = unit % pieces * DIGEST_PIECE;
        const i64 end = smaller(begin + DIGEST_PIECE, words);
        const i64 line = unit / pieces % lines;
        const i64 item = unit / pieces / lines;
        const u8* page = frames + offsets[item];
        u64 sum = 0;
        if (whole) {
            const u64* row = (const u64*)(page + line * row_stride);
            const u64 before = (u64)(line * words + 1);
#pragma unroll 8
            for (i64 at = begin + get_lane(); at < end; at += WARP)
                sum += mix(row[at] + (before + (u64)at) * STEP);
        } else {
            for (i64 at = begin + get_lane(); at < end; at += WARP)
                sum += mix(gather_word(page, at, content_bytes, row_bytes, row_stride)
                           + (u64)(at + 1) * STEP);
        }
        sum = add_lanes(sum);
        if (get_lane() == 0) atomicAdd(&sums[item], sum);
    }
}

// Makes digests of the sums; `digests` may be mapped host memory.
extern "C" __global__ void digest_ends(
    const u64* sums, u64* digests, i64 items, i64 content_bytes) {
    const i64 step = (i64)gridDim.x * blockDim.x;
    for (i64 at = (i64)blockIdx.x * blockDim.x + threadIdx.x; at < items; at += step)
        digests[at] = mix(sums[at] + (u64)content_bytes);
}
