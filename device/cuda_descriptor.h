// sm_90a: how warpgroup products find their operands in shared memory, as tensor copies with swizzle have
// left them.

// Matrix descriptor. swizzle: 1 = 128 bytes, 2 = 64. leading and stride: bytes between the parts of a tile.
KW_DEVICE u64 make_descriptor(u32 address, u32 leading, u32 stride, u64 swizzle) {
  return (u64)((address & 0x3ffff) >> 4) | (u64)(leading >> 4) << 16 | (u64)(stride >> 4) << 32 |
         swizzle << 62;
}

// 16 steps of k (number `step16` of the tile's Depth) of the lines from first_line on. A tile has Lines rows
// of A or columns of B.
// ByDepth: blocks of 64 k, each (Lines, 64), 128 bytes a line. Otherwise panels of up to 64 lines, each
// (Depth, lines of the panel).
template <bool ByDepth, int Lines, int Depth>
KW_DEVICE u64 describe_tile(u32 tile, int first_line, int step16) {
  if constexpr (ByDepth)
    return make_descriptor(tile + step16 / 4 * (Lines * 128) + first_line * 128 + step16 % 4 * 32, 16, 1024,
                           1);
  else if constexpr (Lines == 32)
    return make_descriptor(tile + step16 * 1024, Depth * 64, 512, 2);
  else
    return make_descriptor(tile + first_line / 64 * (Depth * 128) + step16 * 2048, Depth * 128, 1024, 1);
}
