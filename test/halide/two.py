# Wrong by a fault of Halide 14: the split of a Func, and store_root of another that is computed at the inner loop.
import sys

import halide as hl
x, y, xo, xi = hl.Var("x"), hl.Var("y"), hl.Var("xo"), hl.Var("xi")
r = hl.RDom([(-2, 5), (-2, 5)], "r")
source, box, out, last = hl.Func("source"), hl.Func("box"), hl.Func("out"), hl.Func("last")
source[x, y] = 2 * x + 5 * y
box[x, y] = 0
box[x, y] += source[x + r.x, y + r.y]
out[x, y] = box[x, y] / 25
last[x, y] = out[x, y] + 1
source.compute_root()
source.vectorize(x, 8)
out.compute_root()
out.split(x, xo, xi, 2, hl.TailStrategy.GuardWithIf)
box.compute_at(out, xi)
box.store_root()
last.vectorize(x, 8)
last.bound(x, 0, 64)
image = last.realize([64, 16])
wrong = sum(image[i, j] != 2 * i + 5 * j + 1 for i in range(64) for j in range(16))
print(wrong, "wrong")
sys.exit(wrong > 0)
