"""The programs that `scripts/ops-seen --exports` exports: each uses one feature of PyTorch or of torch.export. An entry is a
function of the inputs, or a module, and the inputs; further values are keyword arguments of torch.export.export.
"""
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  (registers the ops)
import torch.nn.functional as F
from torch import nn
from torch.export import Dim
from torch.nn.utils import parametrizations

r = torch.randn
FEATURES = {}


def feature(*inputs, modules=None, **export):
    """Adds a function; its first parameter is `modules` where that is given."""
    def add(function):
        FEATURES[function.__name__] = (Program(function, modules), inputs, export)
        return function
    return add


class Program(nn.Module):
    def __init__(self, function, modules=None):
        super().__init__()
        self.function = function
        self.modules_by_name = None if modules is None else nn.ModuleDict(modules)

    def forward(self, *inputs):
        if self.modules_by_name is None:
            return plain(self.function(*inputs))
        return plain(self.function(self.modules_by_name, *inputs))


def plain(results):
    """Tuples in the place of PyTorch's named ones, which torch.export.save refuses."""
    return tuple(map(plain, results)) if isinstance(results, tuple) else results


# --- Control flow ---


@feature(r(3, 4))
def cond(x):
    return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))


@feature(torch.tensor(5), r(3))
def while_loop(i, x):
    from torch._higher_order_ops.while_loop import while_loop as loop
    return loop(lambda i, x: i > 0, lambda i, x: (i - 1, x * 2 + 1), (i, x))


@feature(r(3), r(5, 3))
def scan(c, xs):
    from torch._higher_order_ops.scan import scan as fold
    return fold(lambda c, x: (c + x, (c * x).sin()), c, xs)


@feature(r(4, 3), r(3))
def map_over_rows(xs, y):
    from torch._higher_order_ops.map import map as each
    return each(lambda x, y: x * y + 1, xs, y)


@feature(r(4, 3))
def associative_scan(xs):
    from torch._higher_order_ops.associative_scan import associative_scan as fold
    return fold(lambda a, b: a * b, xs, dim=0, combine_mode="generic")


@feature(r(4, 3))
def checkpoint(x):
    from torch.utils.checkpoint import checkpoint as recompute
    return recompute(lambda x: x.sin().exp(), x, use_reentrant=False)


@feature(r(4, 3), r(4, 3))
def vmap(x, y):
    return torch.vmap(lambda a, b: (a * b).sum())(x, y)


@feature(r(4, 6), modules={"linear": nn.Linear(6, 3)})
def autocast(m, x):
    with torch.autocast("cpu", torch.bfloat16):
        return m["linear"](x).float()


@feature(r(4, 6))
def grad_mode(x):
    with torch.no_grad():
        y = x * 2
    with torch.set_grad_enabled(True):
        return y + 1


# --- Writes ---


@feature(r(4, 3))
def in_place_views(x):
    y = x.clone()
    y[1].mul_(2).add_(1)
    y[:, 0] = 5
    y.t_()
    y.swapaxes_(0, 1)
    return y.detach_()


@feature(r(4, 3))
def dropout_in_place(x):
    return F.dropout(x.clone(), 0.3, False, True) + F.alpha_dropout(x, 0.1, False)


@feature(r(4, 3))
def write_by_mask(x):
    y = x.clone()
    y[y > 0] = 0.5
    y[torch.tensor([0, 2])] += 1
    return y


@feature(r(4, 6))
def mutated_input(x):
    x.add_(1)
    x[0].zero_()
    return x * 2


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("sum", torch.zeros(3))
        self.register_buffer("count", torch.tensor(0))

    def forward(self, x):
        self.sum.add_(x)
        self.count += 1
        return self.sum * self.count


FEATURES["mutated_buffers"] = (Counter(), (r(3),), {})
FEATURES["batch_norm_in_training"] = (nn.BatchNorm2d(3).train(), (r(4, 3, 5, 5),), {})
FEATURES["instance_norm"] = (nn.InstanceNorm2d(3, affine=True, track_running_stats=True).eval(), (r(4, 3, 5, 5),), {})


# --- Signatures ---


class Options(nn.Module):
    def forward(self, x, w=None, opts=None, k=1, mode=""):
        return {"o": x * w * k, "t": (opts["a"], [x.sum()]), "n": None, "i": 3, "s": mode}


FEATURES["keyword_arguments"] = (Options(), (r(4, 3),), {
    "kwargs": {"w": r(3), "opts": {"a": r(4), "b": None}, "k": 2, "mode": "x"}})


@feature(r(3, 4), "mean", None, True, 2.5, [1, 2])
def constant_arguments(x, mode, nothing, flag, factor, numbers):
    return x.mean() * factor if mode == "mean" else x


@feature(r(3, 4))
def outputs_that_alias(x):
    return x, x.t(), x.view(12), x[0]


@feature(r(3))
def constants(x):
    return x + torch.tensor([1.0, 2, 3]), torch.tensor(2.5) * x, torch.tensor([True, False, True]) & (x > 0)


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        linear = nn.Linear(4, 4)
        self.layers = nn.Sequential(linear, linear, nn.ReLU(inplace=True))

    def forward(self, x):
        return self.layers(x)


FEATURES["shared_module"] = (Shared(), (r(2, 4),), {})


@feature(torch.tensor(3), r(4))
def assertions(n, x):
    torch._assert(x.shape[0] == 4, "a")
    torch._check(n.item() > 0)
    torch._assert_async((x < 100).all())
    return x * n


# --- Sizes ---


class Dynamic(nn.Module):
    def forward(self, x, y):
        return torch.cat([x, y], 0).reshape(-1, 2).sum(1), x.shape[0] * 2 + y.shape[1]


BATCH = Dim("batch", min=2, max=16)
FEATURES["derived_sizes"] = (Dynamic(), (r(4, 6), r(8, 6)), {"dynamic_shapes": {"x": {0: BATCH}, "y": {0: 2 * BATCH}}})


class Resized(nn.Module):
    def forward(self, x):
        return (F.interpolate(x, scale_factor=2.0, mode="bilinear"), F.adaptive_avg_pool2d(x, (x.shape[2] // 2, 3)),
                x.flatten(1)[:, ::2])


FEATURES["dynamic_sizes"] = (Resized(), (r(2, 3, 8, 6),), {"dynamic_shapes": {"x": {0: Dim.DYNAMIC, 2: Dim.AUTO}}})


@feature(torch.tensor(3), r(8))
def size_from_data(n, x):
    k = n.item()
    torch._check(k >= 0)
    torch._check(k <= 8)
    return x.narrow(0, 0, k) + torch.zeros(k), torch.arange(k)


@feature(torch.tensor([[1.0, 0, 2], [0, 3, 0]]))
def nonzero(x):
    return x.nonzero(), x[x > 0], torch.masked_select(x, x > 1), torch.where(x > 0)[0]


@feature(torch.tensor([3, 1, 3, 2, 1]))
def unique(x):
    values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    return values, inverse, counts, torch.unique_consecutive(x)


@feature(torch.tensor([3, 1, 3, 2, 1]))
def bincount(x):
    return torch.bincount(x), torch.bincount(x, minlength=8)


@feature(r(3, 2), torch.tensor([1, 2, 0]))
def repeat_interleave(x, n):
    return torch.repeat_interleave(x, n, dim=0)


@feature(torch.tensor(0.5), r(3))
def float_from_data(n, x):
    return x * n.item()


# --- Types ---


@feature(r(4, 8).bfloat16(), modules={"linear": nn.Linear(8, 3).bfloat16()})
def bf16(m, x):
    return F.gelu(m["linear"](x)), F.layer_norm(x, (8,)), x.softmax(-1)


@feature(r(4, 8))
def fp8(x):
    a, b = x.to(torch.float8_e4m3fn), x.to(torch.float8_e5m2)
    return a, a.float() + b.float()


@feature(r(4, 8))
def fp8_fnuz(x):
    return x.to(torch.float8_e4m3fnuz).float() + x.to(torch.float8_e5m2fnuz).float()


@feature(r(4, 8).abs() + 1)
def e8m0(x):
    return x.to(torch.float8_e8m0fnu).float()


@feature(r(4, 2))
def complex_numbers(x):
    z = torch.view_as_complex(x)
    return z * z.conj(), z.abs(), torch.polar(x[:, 0].abs(), x[:, 1]), torch.view_as_real(z.exp()), z.angle()


@feature(r(3, 4))
def sparse_product(x):
    return torch.sparse.mm(x.to_sparse(), x.t())


@feature(torch.randint(-5, 5, (32, 32)).to(torch.int8))
def int8_product(x):
    return torch._int_mm(x, x)


@feature(r(4, 6))
def quantize_per_tensor(x):
    q = torch.ops.quantized_decomposed
    a = q.quantize_per_tensor(x, 0.1, 3, -128, 127, torch.int8)
    return a, q.dequantize_per_tensor(a, 0.1, 3, -128, 127, torch.int8)


@feature(r(4, 6))
def quantize_per_channel(x):
    q = torch.ops.quantized_decomposed
    scales, zeros = torch.full((4,), 0.1), torch.zeros(4).long()
    a = q.quantize_per_channel(x, scales, zeros, 0, -128, 127, torch.int8)
    return a, q.dequantize_per_channel(a, scales, zeros, 0, -128, 127, torch.int8)


@feature(r(4, 6))
def quantize_by_data(x):
    q = torch.ops.quantized_decomposed
    scale, zero = q.choose_qparams.tensor(x, -128, 127, 1e-5, torch.int8)
    a = q.quantize_per_tensor.tensor(x, scale, zero, -128, 127, torch.int8)
    return a, q.dequantize_per_tensor.tensor(a, scale, zero, -128, 127, torch.int8)


@feature(r(4, 6))
def fake_quantize(x):
    return (torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127),
            torch.fake_quantize_per_channel_affine(x, torch.full((4,), 0.1), torch.zeros(4).int(), 0, -128, 127))


# --- Custom ops ---


@torch.library.custom_op("sample::scale", mutates_args=())
def scale_op(x: torch.Tensor, k: int) -> torch.Tensor:
    return x * k


@scale_op.register_fake
def _(x, k):
    return torch.empty_like(x)


@torch.library.custom_op("sample::increment_", mutates_args={"x"})
def increment_op(x: torch.Tensor) -> None:
    x.add_(1)


@feature(r(4, 6))
def custom_op(x):
    return torch.ops.sample.scale(x, 3) + 1


@feature(r(4, 6))
def custom_op_that_writes(x):
    y = x * 2
    torch.ops.sample.increment_(y)
    return y + 1


# --- Modules ---

MODULES = {
    "lstm": (nn.LSTM(4, 6, 2, bidirectional=True), (r(5, 2, 4),)),
    "gru": (nn.GRU(4, 6, 1, batch_first=True), (r(5, 2, 4),)),
    "rnn": (nn.RNN(4, 6, 1), (r(5, 2, 4),)),
    "lstm_cell": (nn.LSTMCell(4, 6), (r(2, 4),)),
    "encoder_layer": (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (r(2, 5, 8),)),
    "decoder_layer": (nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), (r(2, 5, 8), r(2, 4, 8))),
    "embedding_bag": (nn.EmbeddingBag(10, 3, mode="mean"), (torch.tensor([1, 2, 4, 5]), torch.tensor([0, 2]))),
    "weight_norm": (parametrizations.weight_norm(nn.Linear(4, 3)), (r(2, 4),)),
    "weight_norm_hook": (nn.utils.weight_norm(nn.Linear(4, 3)), (r(2, 4),)),
    "spectral_norm": (parametrizations.spectral_norm(nn.Linear(4, 3)), (r(2, 4),)),
    "transposed_convolution": (nn.ConvTranspose2d(3, 4, 3, 2, 1, 1), (r(1, 3, 5, 5),)),
    "local_response_norm": (nn.LocalResponseNorm(2), (r(1, 4, 5, 5),)),
    "rms_norm": (nn.RMSNorm(6), (r(4, 6),)),
    "group_norm": (nn.GroupNorm(2, 4), (r(2, 4, 5),)),
    "bilinear": (nn.Bilinear(3, 4, 2), (r(5, 3), r(5, 4))),
}
for name, (module, values) in MODULES.items():
    FEATURES[name] = (module.eval(), values, {})


# --- Functions ---


def square(n=4):
    a = r(n, n)
    return a @ a.T + n * torch.eye(n)


@feature(r(5, 2, 8), modules={"attention": nn.MultiheadAttention(8, 2)})
def attention_mask(m, x):
    return m["attention"](x, x, x, attn_mask=torch.ones(5, 5).tril() == 0)


@feature([r(2), r(3)], [r(2), r(3)])
def foreach(a, b):
    c = torch._foreach_mul(torch._foreach_add(a, b, alpha=2), 3.0)
    d = [t.clone() for t in c]
    torch._foreach_add_(d, 1.0)
    torch._foreach_addcdiv_(d, a, [t.abs() + 1 for t in b], 0.5)
    return c, d, torch._foreach_norm(c), torch._foreach_lerp(a, d, 0.3), torch._foreach_maximum(a, b)


FUNCTIONS = {
    "grouped_attention": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True, scale=0.3),
                          (r(1, 4, 5, 8), r(1, 2, 6, 8), r(1, 2, 6, 8))),
    "inverse": (torch.linalg.inv, (square(),)),
    "solve": (torch.linalg.solve, (square(), r(4, 2))),
    "cholesky": (torch.linalg.cholesky, (square(),)),
    "determinant": (lambda a: (torch.linalg.det(a), torch.linalg.slogdet(a)), (square(),)),
    "matrix_norms": (lambda a: (torch.linalg.norm(a), torch.linalg.matrix_norm(a, 1), torch.linalg.cond(a)), (square(),)),
    "qr": (lambda a: torch.linalg.qr(a)[1].abs(), (r(4, 3),)),
    "pseudo_inverse": (torch.linalg.pinv, (r(4, 3),)),
    "symmetric_eigenvalues": (torch.linalg.eigvalsh, (square(),)),
    "singular_values": (torch.linalg.svdvals, (r(4, 3),)),
    "matrix_powers": (lambda a: (torch.linalg.matrix_power(a, 3), torch.linalg.matrix_exp(a)), (r(3, 3),)),
    "chain_of_products": (lambda a, b: torch.linalg.multi_dot([a, a, b]), (r(4, 4), r(4, 2))),
    "rfft": (lambda x: (torch.fft.rfft(x), torch.fft.irfft(torch.fft.rfft(x), n=8)), (r(4, 8),)),
    "fft2": (lambda x: torch.fft.ifft2(torch.fft.fft2(x)).real, (r(4, 8),)),
    "hfft": (lambda x: torch.fft.hfft(torch.fft.rfft(x)), (r(4, 8),)),
    "stft": (lambda x: torch.stft(x, 8, 4, window=torch.hann_window(8), return_complex=True), (r(4, 16),)),
    "grid_sample": (lambda x, g: (F.grid_sample(x, g, align_corners=False),
                                  F.grid_sample(x, g, "bicubic", "reflection", False)), (r(1, 2, 6, 6), r(1, 4, 4, 2))),
    "affine_grid": (lambda t: F.affine_grid(t, (1, 2, 4, 4), False), (r(1, 2, 3),)),
    "antialiased_resize": (lambda x: F.interpolate(x, (4, 4), mode="bilinear", antialias=True), (r(1, 2, 6, 6),)),
    "bicubic_resize": (lambda x: F.interpolate(x, (9, 9), mode="bicubic"), (r(1, 2, 6, 6),)),
    "unfold_and_fold": (lambda x: F.fold(F.unfold(x, 2), (6, 6), 2), (r(1, 2, 6, 6),)),
    "max_unpool": (lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2), (r(1, 2, 6, 6),)),
    "pixel_shuffle": (lambda x: F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2), (r(1, 4, 3, 3),)),
    "cross_entropy": (lambda x, t: F.cross_entropy(x, t, label_smoothing=0.1), (r(4, 5), torch.tensor([0, 1, 2, 4]))),
    "margin_losses": (lambda x, t: (F.multi_margin_loss(x, t), F.soft_margin_loss(x, x.sign())),
                      (r(4, 5), torch.tensor([0, 1, 2, 4]))),
    "regression_losses": (lambda x, y: (F.smooth_l1_loss(x, y), F.huber_loss(x, y), F.poisson_nll_loss(x, y.abs())),
                          (r(4, 5), r(4, 5))),
    "bessel_functions": (lambda x: (torch.special.i0e(x), torch.special.i1(x), torch.special.bessel_j0(x),
                                    torch.special.modified_bessel_k0(x)), (torch.rand(4, 5) + 0.1,)),
    "gamma_functions": (lambda x: (torch.lgamma(x), torch.digamma(x), torch.polygamma(1, x), torch.special.gammainc(x, x),
                                   torch.special.multigammaln(x + 3, 2)), (torch.rand(4, 5) + 0.1,)),
    "normal_distribution": (lambda x: (torch.special.ndtr(x), torch.special.ndtri(x), torch.special.log_ndtr(x),
                                       torch.special.erfcx(x)), (torch.rand(4, 5) * 0.8 + 0.1,)),
    "orthogonal_polynomials": (lambda x: (torch.special.chebyshev_polynomial_t(x, 3),
                                          torch.special.hermite_polynomial_h(x, 2),
                                          torch.special.legendre_polynomial_p(x, 3)), (torch.rand(4, 5),)),
    "renormalization": (lambda x: torch.renorm(x, 2, 0, 1.0), (r(4, 6),)),
    "quantiles": (lambda x: (torch.quantile(x, 0.3, dim=1), torch.nanquantile(x, 0.5), torch.nanmedian(x)), (r(4, 6),)),
    "differences": (lambda x: (torch.diff(x), torch.gradient(x)[0], torch.trapezoid(x)), (r(4, 6),)),
    "running_extrema": (lambda x: (torch.cummax(x, 1), torch.logcumsumexp(x, 1), torch.cumprod(x, 0)), (r(4, 6),)),
    "scatter_reductions": (lambda x: (torch.scatter_reduce(x, 0, torch.zeros(4, 6).long(), x, "amax"),
                                      torch.index_reduce(x, 0, torch.tensor([1, 1]), x[:2], "prod")), (r(4, 6),)),
    "searching": (lambda x: (torch.bucketize(x, torch.tensor([0.0, 1.0])), torch.isin(x.round(), torch.tensor([0.0, 1.0]))),
                  (r(4, 6),)),
    "combinations": (lambda x: (torch.cartesian_prod(x, x), torch.combinations(x), torch.vander(x)), (r(4),)),
    "floating_point_parts": (lambda x: (torch.frexp(x), torch.nextafter(x, x + 1), torch.signbit(x)), (r(4, 6),)),
    "bit_operations": (lambda i: (i & 3, i | 1, i ^ 2, ~i, i << 1, i >> 1, torch.gcd(i, i + 2)), (torch.arange(12),)),
    "scatter_views": (lambda x: (x.select_scatter(x[0], 0, 1), x.slice_scatter(x[:2], 0, 0, 2),
                                 x.diagonal_scatter(torch.zeros(4))), (r(4, 6),)),
}
for name, (function, values) in FUNCTIONS.items():
    FEATURES[name] = (Program(function), values, {})
