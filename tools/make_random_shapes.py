#!/usr/bin/env python3
"""Prints examples/shapes/random60.csv: 60 shapes, m, n, k log-uniform in 1..2048, a third with m, n and k odd.

The seed is fixed, so the output is always the same:

    python3 tools/make_random_shapes.py > examples/shapes/random60.csv
"""

import math
import random

SEED = 20250601
SHAPES = 60
ALL_ODD = SHAPES // 3
LONGEST = 2048


def draw_size(rng):
    """Log-uniform whole number in 1..LONGEST."""
    return min(LONGEST, int(math.exp(rng.uniform(0, math.log(LONGEST + 1)))))


def draw_odd_size(rng):
    """The same among odd numbers, by drawing until the number is odd."""
    while True:
        size = draw_size(rng)
        if size % 2 == 1:
            return size


def main():
    rng = random.Random(SEED)
    shapes = [[draw_odd_size(rng) for _ in range(3)] for _ in range(ALL_ODD)]
    shapes += [[draw_size(rng) for _ in range(3)] for _ in range(SHAPES - ALL_ODD)]
    rng.shuffle(shapes)
    print("# Made by tools/make_random_shapes.py; do not edit.")
    print("name,m,n,k,layout,dtype")
    for index, (m, n, k) in enumerate(shapes):
        print(f"random{index:02d},{m},{n},{k},nn,f32")


if __name__ == "__main__":
    main()
