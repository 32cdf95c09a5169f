"""The families of random networks: each function builds one network, draws what is open, and returns its result.

Widths, sizes and depths come from Draw, so that its scale makes a network smaller or larger.
"""
import math

import numpy as np
from onnx import TensorProto


def image(net, draw, low, high, multiple):
    """An input of 1 or 3 channels, square or not."""
    height = draw.size(low, high, multiple)
    width = height if draw.coin(0.7) else draw.size(low, high, multiple)
    return net.input("image", [1, draw.of(1, 3, 3), height, width])


def stem(net, draw, x, width):
    """The first layers of an image network: they halve the sides once or twice."""
    x = net.conv_norm(x, width, draw.of(3, 3, 7), stride=2)
    return net.pool(x, "MaxPool", 3, 2, pad=1) if draw.coin() else x


def stages(draw, most=4):
    """For each block of some stages: whether it is the first one of its stage, and the number of the stage."""
    for stage in range(draw.of(2, 3, most)):
        for block in range(draw.depth(1, 4)):
            yield block == 0, stage


def shortcut(net, x, y, stride):
    """What a residual block adds to its result y."""
    return x if x.shape == y.shape else net.conv_norm(x, y.shape[1], 1, "", stride=stride)


def residual(net, draw):
    x = stem(net, draw, image(net, draw, 64, 288, 4), draw.width(16, 64))
    narrow, bottleneck = draw.width(16, 96), draw.coin()
    for first, stage in stages(draw):
        stride, width = (2 if first and stage else 1), narrow * 2 ** stage
        if bottleneck:
            y = net.conv_norm(net.conv_norm(x, width), width, 3, stride=stride)
            y = net.conv_norm(y, width * 4, 1, "")
        else:
            y = net.conv_norm(net.conv_norm(x, width, 3, stride=stride), width, 3, "")
        x = net.activate(net.add(y, shortcut(net, x, y, stride)))
    return net.classifier(x, draw.between(10, 1000))


def dense(net, draw):
    growth = draw.width(8, 48)
    x = stem(net, draw, image(net, draw, 64, 256, 4), 2 * growth)
    bottleneck = draw.coin()
    for stage in range(draw.of(2, 3)):
        if stage:
            x = net.conv(net.activate(net.batch_norm(x)), max(1, x.shape[1] // 2), bias=False)
            x = net.pool(x, "AveragePool", 2, 2)
        values = [x]
        for _ in range(draw.depth(3, 12)):
            y = net.activate(net.batch_norm(net.concat(values)))
            if bottleneck:
                y = net.conv_norm(y, 4 * growth)
            values.append(net.conv(y, growth, 3, bias=False))
        x = net.concat(values)
    return net.classifier(net.activate(net.batch_norm(x)), draw.between(10, 1000))


def inverted(net, draw):
    """Inverted bottlenecks, as in MobileNet and EfficientNet."""
    net.activation = draw.of("silu", "silu", "hardswish", "relu")
    x = net.conv_norm(image(net, draw, 64, 288, 4), draw.width(8, 40), 3, stride=2)
    narrow, excites, expansion = draw.width(12, 48), draw.coin(0.7), draw.of(3, 4, 6, 6)
    gate = "sigmoid" if net.activation == "silu" else "hardsigmoid"
    for first, stage in stages(draw, 5):
        stride, kernel, width = (2 if first else 1), draw.of(3, 3, 5, 7), round(narrow * 1.6 ** stage)
        y = net.conv_norm(x, x.shape[1] * expansion)
        y = net.conv_norm(y, y.shape[1], kernel, stride=stride, groups=y.shape[1])
        if excites:
            y = net.squeeze_excite(y, x.shape[1] // 4, gate)
        y = net.conv_norm(y, width, 1, "")
        x = net.add(y, x) if x.shape == y.shape else y
    return net.classifier(net.conv_norm(x, 4 * x.shape[1]), draw.between(10, 1000))


def shuffle(net, x, groups):
    batch, width, height, length = x.shape
    x = net.transpose(net.reshape(x, batch, groups, width // groups, height, length), 0, 2, 1, 3, 4)
    return net.reshape(x, batch, width, height, length)


def grouped(net, draw):
    """Grouped convolutions, as in ResNeXt and RegNet, or with shuffled channels, as in ShuffleNet."""
    shuffles, excites, groups = draw.coin(0.3), draw.coin(0.3), draw.of(2, 3, 4, 8, 16, 32)
    narrow = draw.width(32, 160, groups)
    x = stem(net, draw, image(net, draw, 64, 256, 4), draw.width(16, 48))
    for first, stage in stages(draw):
        stride, width = (2 if first else 1), narrow * (stage + 1)
        y = net.conv_norm(x, width, groups=groups if shuffles and not first else 1)
        if shuffles:
            y = shuffle(net, y, groups)
        y = net.conv_norm(y, width, 3, "" if shuffles else None, stride=stride, groups=width if shuffles else groups)
        if excites:
            y = net.squeeze_excite(y, width // 4)
        y = net.conv_norm(y, width, 1, "", groups=groups if shuffles else 1)
        x = net.activate(net.add(y, shortcut(net, x, y, stride)))
    return net.classifier(x, draw.between(10, 1000))


def dilated_sequence(net, draw):
    """Gated convolutions over a sequence, as in WaveNet."""
    width, kernel = draw.width(16, 96), draw.of(3, 3, 5)
    x = net.conv(net.input("sequence", [1, draw.between(1, 80), draw.size(256, 8192, 8)]), width)
    skips = []
    for i in range(draw.depth(4, 12)):
        both = net.conv(x, 2 * width, kernel, dilation=2 ** (i % 6))
        filtered, gate = net.split(both, 2, 1)
        y = net.mul(net.unary("Tanh", filtered), net.unary("Sigmoid", gate))
        skips.append(net.conv(y, width))
        x = net.add(net.conv(y, width), x)
    total = skips[0]
    for skip in skips[1:]:
        total = net.add(total, skip)
    return net.conv(net.activate(total, "relu"), draw.between(1, 32))


def resize(net, x, factor, mode):
    where = {"nearest": {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
             "linear": {"coordinate_transformation_mode": "half_pixel"}}[mode]
    scales = net.constant(np.array([1, 1, factor, factor], np.float32))
    shape = [*x.shape[:2], *(size * factor for size in x.shape[2:])]
    return net.op("Resize", [x, None, scales], shape, mode=mode, **where)


def dilated(net, draw):
    """Over a sequence, or the segmentation of an image by branches with several dilations, as in DeepLab."""
    if draw.coin(0.4):
        return dilated_sequence(net, draw)
    x = net.conv_norm(image(net, draw, 64, 256, 8), draw.width(16, 48), 3, stride=2)
    width = draw.width(32, 128)
    for stride in (2, 2):
        x = net.conv_norm(x, width, 3, stride=stride)
    for i in range(draw.depth(1, 4)):
        y = net.conv_norm(net.conv_norm(x, width, 3, dilation=2), width, 3, "", dilation=draw.of(2, 4))
        x = net.activate(net.add(y, x))
    step = draw.of(2, 3, 6)
    branches = [net.conv_norm(x, width)] + [net.conv_norm(x, width, 3, dilation=step * i) for i in (1, 2, 3)]
    x = net.conv_norm(net.concat(branches), width)
    return resize(net, net.conv(x, draw.between(2, 32)), 8, draw.of("linear", "nearest"))


def transposed(net, draw):
    """A generator of images, or an autoencoder."""
    kernel = draw.of(2, 3, 4, 4, 5)
    levels = draw.of(2, 3, 3)
    narrow = draw.width(8, 48)
    if draw.coin():
        x = net.conv_norm(image(net, draw, 64, 256, 2 ** levels), narrow, 3)
        for level in range(levels):
            x = net.conv_norm(x, narrow * 2 ** (level + 1), 3, stride=2)
    else:
        x = net.input("noise", [1, narrow * 2 ** levels, draw.size(8, 32), draw.size(8, 32)])
    for level in reversed(range(levels)):
        x = net.conv_transpose(x, narrow * 2 ** level, kernel, 2)
        x = net.activate(x if net.folded else net.batch_norm(x))
    return net.unary(draw.of("Tanh", "Sigmoid"), net.conv(x, 3, 3))


def unet(net, draw):
    levels, narrow, steps, up = draw.of(2, 3, 4), draw.width(8, 48), draw.of(1, 2, 2), draw.of("transposed", "nearest", "linear")
    x, skips = image(net, draw, 48, 224, 2 ** levels), []
    for level in range(levels + 1):
        if level:
            x = net.pool(x, "MaxPool", 2, 2)
        for _ in range(steps):
            x = net.conv_norm(x, narrow * 2 ** level, 3)
        skips.append(x)
    for level in reversed(range(levels)):
        width = narrow * 2 ** level
        if up == "transposed":
            x = net.conv_transpose(x, width, 2, 2)
        else:
            x = net.conv_norm(resize(net, x, 2, up), width, draw.of(1, 3))
        x = net.concat([skips[level], x] if draw.coin(0.8) else [x, skips[level]])
        for _ in range(steps):
            x = net.conv_norm(x, width, 3)
    return net.conv(x, draw.between(1, 21))


def patches(net, draw, low, high, width):
    """An image as a sequence: [1, length, width]."""
    patch = draw.of(4, 8, 8, 16)
    x = image(net, draw, low, high, patch)
    batch, channels, *sizes = x.shape
    weight = net.kernel([width, channels, patch, patch], channels * patch * patch)
    shape = [batch, width, *(size // patch for size in sizes)]
    net.count_products(math.prod(shape) * math.prod(weight.shape[1:]), width)
    y = net.op("Conv", [x, weight, net.uniform([width], -0.1, 0.1)], shape, kernel_shape=[patch] * 2, strides=[patch] * 2)
    return net.transpose(net.reshape(y, batch, width, math.prod(shape[2:])), 0, 2, 1)


def mlp(net, x, width, kind):
    return net.linear(net.activate(net.linear(x, width), kind), x.shape[-1])


def mixer(net, draw):
    width, fused, kind = draw.width(32, 384), draw.coin(), draw.of("gelu", "gelu", "relu", "gelu_tanh")
    x = patches(net, draw, 64, 256, width)
    between, inner = draw.width(16, 256), width * draw.of(2, 4)
    for _ in range(draw.depth(2, 10)):
        y = net.transpose(net.layer_norm(x, fused=fused), 0, 2, 1)
        x = net.add(x, net.transpose(mlp(net, y, between, kind), 0, 2, 1))
        x = net.add(x, mlp(net, net.layer_norm(x, fused=fused), inner, kind))
    return net.linear(net.mean(net.layer_norm(x, fused=fused), [1]), draw.between(10, 1000))


def heads_of(net, x, heads, order):
    batch, length, width = x.shape
    return net.transpose(net.reshape(x, batch, length, heads, width // heads), *order)


def attention(net, x, source, heads, mask, together, past=()):
    """`mask` maps scores to scores. `together`: one product makes queries, keys and values. `past`: keys and values of earlier
    steps."""
    width = x.shape[-1]
    if together:
        q, k, v = net.split(net.linear(x, 3 * width), 3, 2)
    else:
        q, k, v = net.linear(x, width), net.linear(source, width), net.linear(source, width)
    q, v = heads_of(net, q, heads, (0, 2, 1, 3)), heads_of(net, v, heads, (0, 2, 1, 3))
    if past:
        k = net.concat([past[0], heads_of(net, k, heads, (0, 2, 1, 3))], axis=2)
        k, v = net.transpose(k, 0, 1, 3, 2), net.concat([past[1], v], axis=2)
    else:
        k = heads_of(net, k, heads, (0, 2, 3, 1))
    scores = mask(net.binary("Div", net.matmul(q, k), net.number(math.sqrt(width // heads))))
    y = net.transpose(net.matmul(net.unary("Softmax", scores, axis=-1), v), 0, 2, 1, 3)
    return net.linear(net.reshape(y, *x.shape), width)


def embedded(net, draw, width, batch, length):
    tokens = net.input("tokens", [batch, length], TensorProto.INT64)
    rows = net.uniform([draw.between(50, 2000), width], -1, 1)
    x = net.op("Gather", [rows, tokens], [batch, length, width], moved=False)
    return net.add(x, net.uniform([1, length, width], -1, 1))


def transformer_shape(draw):
    heads, width = draw.of(2, 3, 4, 6, 8, 12), draw.of(16, 32, 32, 64, 64, 20)
    while heads * width > max(32, 640 * draw.scale ** 0.5):
        if heads > 2:
            heads -= 1
        elif width > 8:
            width //= 2
        else:
            break
    return heads, heads * width


def no_mask(scores):
    return scores


def padding_mask(net, batch, length):
    """An input, 1 for each token that counts; the others get a large negative score."""
    counts = net.input("attention_mask", [batch, length], TensorProto.INT64)
    shaped = net.op("Unsqueeze", [counts, net.sizes(1, 2)], [batch, 1, 1, length], moved=False)
    missing = net.binary("Sub", net.number(1), net.unary("Cast", shaped, to=TensorProto.FLOAT))
    added = net.mul(missing, net.number(-10000))
    return lambda scores: net.add(scores, added)


def causal_mask(net, draw, length):
    later = np.triu(np.ones((1, 1, length, length), bool), 1)
    if draw.coin():
        added = net.constant(np.where(later, -np.inf, 0).astype(np.float32))
        return lambda scores: net.add(scores, added)
    seen, lowest = net.constant(~later), net.number(np.finfo(np.float32).min)
    return lambda scores: net.op("Where", [seen, scores, lowest], scores.shape)


def block(net, x, before, fused, kind, inner, *mixes):
    """Residual layers with a normalization `before` or behind each: the mixes, then an MLP."""
    for mix in [*mixes, lambda y: mlp(net, y, inner, kind)]:
        if before:
            x = net.add(x, mix(net.layer_norm(x, fused=fused)))
        else:
            x = net.layer_norm(net.add(x, mix(x)), fused=fused)
    return x


def encoder(net, draw):
    """Attention over an image or tokens, with a mask, with a bias for each pair of positions, or without."""
    heads, width = transformer_shape(draw)
    before, fused, together, kind = draw.coin(), draw.coin(), draw.coin(), draw.of("gelu", "gelu", "gelu_tanh", "relu")
    if draw.coin():
        x = patches(net, draw, 64, 256, width)
    else:
        x = embedded(net, draw, width, draw.of(1, 1, 2), draw.size(32, 384))
    batch, length, _ = x.shape
    masked = draw.of("no", "padding", "bias")
    mask = padding_mask(net, batch, length) if masked == "padding" else no_mask
    for _ in range(draw.depth(2, 8)):
        if masked == "bias":
            bias = net.uniform([1, heads, length, length], -1, 1)
            mask = lambda scores, bias=bias: net.add(scores, bias)  # noqa: E731
        x = block(net, x, before, fused, kind, width * draw.of(2, 4),
                  lambda y, mask=mask: attention(net, y, y, heads, mask, together))
    return net.linear(net.mean(x, [1]), draw.between(2, 1000))


def decoder(net, draw):
    """Causal attention, with or without attention to a memory; or one step with the keys and values of earlier ones."""
    heads, width = transformer_shape(draw)
    before, fused, together, kind = draw.coin(), draw.coin(), draw.coin(), draw.of("gelu", "gelu_tanh", "gelu_tanh", "relu")
    batch, length, stepwise = draw.of(1, 1, 2), draw.size(32, 384), draw.coin(0.3)
    x = embedded(net, draw, width, batch, 1 if stepwise else length)
    mask = no_mask if stepwise else causal_mask(net, draw, length)
    memory = net.input("memory", [batch, draw.size(16, 256), width]) if draw.coin(0.4) else None
    for layer in range(draw.depth(2, 8)):
        past = stepwise and [net.input(f"{name}{layer}", [batch, heads, length, width // heads]) for name in ("keys", "values")]
        mixes = [lambda y, past=past: attention(net, y, y, heads, mask, together, past)]
        if memory:
            mixes.append(lambda y: attention(net, y, memory, heads, no_mask, False))
        x = block(net, x, before, fused, kind, width * draw.of(2, 4), *mixes)
    return net.linear(x, draw.between(50, 2000), bias=False)


def recurrent(net, draw):
    kind, both_ways, reset = draw.of("LSTM", "GRU"), draw.coin(), draw.of(0, 1, 1)
    width, length, batch = draw.width(32, 320), draw.between(8, 100), draw.of(1, 1, 2, 4, 8)
    if draw.coin():
        x = net.transpose(embedded(net, draw, draw.width(16, 256), batch, length), 1, 0, 2)
    else:
        x = net.input("sequence", [length, batch, draw.between(8, 128)])
    for _ in range(draw.of(1, 2, 3)):
        x = net.recurrent(kind, x, width, both_ways, reset)
    return net.linear(net.activate(x, "relu"), draw.between(2, 200))


def norm_first(net, draw):
    """Convolutions with an instance, group or layer normalization, channels first."""
    groups, wide = draw.of(2, 4, 8, 32), draw.coin()
    norm = draw.of(net.instance_norm, lambda x: net.group_norm(x, groups), lambda x: net.layer_norm(x, axis=1, fused=False))
    width = draw.width(16, 96, groups)
    x = net.conv(image(net, draw, 48, 224, 4), width, draw.of(3, 5, 7), stride=2)
    for first, stage in stages(draw, 3):
        if first and stage:
            width *= 2
            x = net.conv(norm(x), width, 3, stride=2)
        if wide:  # as in ConvNeXt
            y = net.conv(norm(net.conv(x, width, 7, groups=width)), 4 * width)
            y = net.conv(net.activate(y), width)
        else:
            y = net.conv(net.activate(norm(x)), width, 3)
            y = net.conv(net.activate(norm(y)), width, 3)
        x = net.add(x, y)
    return net.classifier(norm(x), draw.between(10, 1000))


def norm_last(net, draw):
    """Blocks of a depthwise convolution, a normalization and an MLP, whose channels come last, as in ConvNeXt."""
    width, fused, kernel = draw.width(16, 128), draw.coin(), draw.of(3, 5, 7, 7)
    scaled, kind = draw.coin(), draw.of("gelu", "gelu", "gelu_tanh", "silu")
    x = net.conv(image(net, draw, 48, 224, 4), width, 5, stride=2)
    for first, stage in stages(draw, 3):
        if first and stage:
            width *= 2
            last = net.layer_norm(net.transpose(x, 0, 2, 3, 1), fused=fused)
            x = net.conv(net.transpose(last, 0, 3, 1, 2), width, 3, stride=2)
        y = net.transpose(net.conv(x, width, kernel, groups=width), 0, 2, 3, 1)
        y = mlp(net, net.layer_norm(y, fused=fused), 4 * width, kind)
        if scaled:
            y = net.mul(y, net.uniform([width], 0.1, 1))
        x = net.add(x, net.transpose(y, 0, 3, 1, 2))
    return net.linear(net.layer_norm(net.mean(net.transpose(x, 0, 2, 3, 1), [1, 2]), fused=fused), draw.between(10, 1000))


FAMILIES = {function.__name__: function for function in (
    residual, dense, inverted, grouped, dilated, transposed, unet, mixer, encoder, decoder, recurrent, norm_first, norm_last)}
