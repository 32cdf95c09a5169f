# Wrong sums by a fault of Halide 14: rfactor after the split of a pure variable.
import sys

import halide as hl
x, y, xo, xi, u = hl.Var("x"), hl.Var("y"), hl.Var("xo"), hl.Var("xi"), hl.Var("u")
r = hl.RDom([(-2, 5), (-2, 5)], "r")
source, box, out = hl.Func("source"), hl.Func("box"), hl.Func("out")
source[x, y] = 2 * x + 5 * y
box[x, y] = 0
box[x, y] += source[x + r.x, y + r.y]
out[x, y] = box[x, y] * 3
source.compute_root()
source.parallel(y)
out.vectorize(x, 8)
box.compute_root()
box.update().split(x, xo, xi, 4)
part = box.update().rfactor(r.x, u)
part.compute_root()
part.update().parallel(y)
out.bound(x, 0, 32)
image = out.realize([32, 16])
wrong = sum(image[i, j] != 75 * (2 * i + 5 * j) for i in range(32) for j in range(16))
print(wrong, "wrong")
sys.exit(wrong > 0)
