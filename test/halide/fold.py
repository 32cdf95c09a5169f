# A sliding window. At fault: fold_storage with a factor that is too small, which Halide notices when the pipeline runs.
import halide as hl
x, y, yo, yi = hl.Var("x"), hl.Var("y"), hl.Var("yo"), hl.Var("yi")
source, edges, out = hl.Func("source"), hl.Func("edges"), hl.Func("out")
shift = hl.Param(hl.Int(32), "shift", 3)
source[x, y] = x * x + 3 * y
edges[x, y] = source[x, y + 1] - source[x, y - 1]
out[x, y] = edges[x, y - 1] + edges[x, y + shift]
out.compute_root()
out.split(y, yo, yi, 16)
out.vectorize(x, 8)
out.parallel(yo)
edges.store_at(out, yo)
edges.compute_at(out, yi)
edges.fold_storage(y, 2)
edges.vectorize(x, 8)
source.compute_root()
source.vectorize(x, 8)
out.realize([64, 64])
