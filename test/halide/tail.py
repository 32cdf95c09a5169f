# At fault: a split that rounds the size of the output up, which is no multiple of its factor.
import halide as hl
x, y, xo, xi = hl.Var("x"), hl.Var("y"), hl.Var("xo"), hl.Var("xi")
shade, out = hl.Func("shade"), hl.Func("out")
shade[x, y] = x * y % 7
out[x, y] = shade[x, y] + shade[x + 1, y]
shade.compute_root()
shade.parallel(y)
shade.vectorize(x, 4)
out.split(x, xo, xi, 8, hl.TailStrategy.RoundUp)
out.unroll(xi, 2)
out.parallel(y)
image = hl.Buffer(hl.Int(32), [30, 8])
out.realize(image)
