// From float sums to C = alpha * sum + beta * C, inside the matrix only. C is not read when beta is 0.
struct Output {
  u16* c;  // (m, n) row-major, ldc elements from row to row
  int m, n;
  i64 ldc;
  float alpha, beta;
};

KW_DEVICE void store_one(const Output& out, int row, int column, float sum) {
  if (row >= out.m || column >= out.n) return;
  u16* at = out.c + row * out.ldc + column;
  float value = out.alpha * sum;
  if (out.beta != 0) value += out.beta * unpack(*at);
  *at = (u16)pack_pair(value, 0);
}

template <int Words>
KW_DEVICE void load_words(u32 (&words)[Words], const u16* at) {
  if constexpr (Words == 1) {
    words[0] = *(const u32*)at;
  } else if constexpr (Words == 2) {
    const uint2 v = *(const uint2*)at;
    words[0] = v.x, words[1] = v.y;
  } else {
    const uint4 v = *(const uint4*)at;
    words[0] = v.x, words[1] = v.y, words[2] = v.z, words[3] = v.w;
  }
}

template <int Words>
KW_DEVICE void store_words(u16* at, const u32 (&words)[Words]) {
  if constexpr (Words == 1) *(u32*)at = words[0];
  if constexpr (Words == 2) *(uint2*)at = make_uint2(words[0], words[1]);
  if constexpr (Words == 4) *(uint4*)at = make_uint4(words[0], words[1], words[2], words[3]);
}

// Width (2, 4, 8) columns of one row from a multiple of Width on: one access where C's rows are aligned to it
// and all columns exist, else one by one.
template <int Width>
KW_DEVICE void store_run(const Output& out, int row, int column, const float (&sums)[Width]) {
  if (row >= out.m || column >= out.n) return;
  if (column + Width > out.n || (out.ldc & (Width - 1)) != 0) {
#pragma unroll
    for (int i = 0; i < Width; ++i) store_one(out, row, column + i, sums[i]);
    return;
  }
  u16* at = out.c + row * out.ldc + column;
  u32 words[Width / 2] = {};
  if (out.beta != 0) load_words(words, at);
#pragma unroll
  for (int i = 0; i < Width / 2; ++i) {
    float low = out.alpha * sums[2 * i], high = out.alpha * sums[2 * i + 1];
    if (out.beta != 0) {
      low += out.beta * unpack((u16)words[i]);
      high += out.beta * unpack((u16)(words[i] >> 16));
    }
    words[i] = pack_pair(low, high);
  }
  store_words(at, words);
}

// Four sums as the tensor cores leave them in a lane: two columns of `row`, two of the row 8 below.
KW_DEVICE void store_fragment(const Output& out, int row, int column, float4 sums) {
  store_run<2>(out, row, column, {sums.x, sums.y});
  store_run<2>(out, row + 8, column, {sums.z, sums.w});
}
