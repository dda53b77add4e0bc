"""Modules that listen, read and compute: recurrent layers, transformers, and what stands between layers."""

import torch
import torch.nn.functional as F
from torch import nn

from registry import Apply, example, module


@module(example(1, 4, 40))
def temporal_convolutions():
    def forward(m, x):
        for layer, reach in zip(m.layers, (1, 2, 4)):
            x = x + F.relu(layer(F.pad(x, (2 * reach, 0))))
        return m.head(x[:, :, -1])
    return Apply(forward, layers=nn.ModuleList(nn.Conv1d(4, 4, 3, dilation=d) for d in (1, 2, 4)), head=nn.Linear(4, 3))


@module(example(1, 1, 160))
def audio_classifier():
    def forward(m, x):
        y = torch.log(m.frames(x).pow(2) + 1e-6).unsqueeze(1)
        return m.head(m.body(y).flatten(1))
    return Apply(forward, frames=nn.Conv1d(1, 16, 32, 16, bias=False),
                 body=nn.Sequential(nn.Conv2d(1, 4, 3, 2), nn.ReLU(), nn.AdaptiveAvgPool2d((2, 2))), head=nn.Linear(16, 4))


@module(example(1, 1, 20, 10))
def keyword_spotter():
    return nn.Sequential(nn.Conv2d(1, 8, (10, 4), 2, (5, 1)), nn.BatchNorm2d(8), nn.ReLU(),
                         nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 1),
                         nn.ReLU(), nn.AvgPool2d((11, 5)), nn.Flatten(), nn.Linear(8, 12), nn.Softmax(1))


@module(example(1, 12, 6))
def lstm():
    return Apply(lambda m, x: m.head(m.lstm(x)[0][:, -1]), lstm=nn.LSTM(6, 8, batch_first=True), head=nn.Linear(8, 3))


@module(example(2, 7, 6))
def lstm_both_ways():
    return Apply(lambda m, x: m.lstm(x)[0], lstm=nn.LSTM(6, 5, 2, batch_first=True, bidirectional=True))


@module(example(9, 1, 6), example(1, 1, 5), example(1, 1, 5))
def lstm_with_state():
    def forward(m, x, h, c):
        y, (h, c) = m.lstm(x, (h, c))
        return y, h, c
    return Apply(forward, lstm=nn.LSTM(6, 5))


@module(example(2, 11, 4))
def gru():
    return Apply(lambda m, x: m.gru(x), gru=nn.GRU(4, 6, batch_first=True, bidirectional=True))


@module(example(1, 6, 4))
def elman():
    return Apply(lambda m, x: m.rnn(x)[0], rnn=nn.RNN(4, 7, batch_first=True, nonlinearity="tanh"))


@module(example(1, 5, 4))
def lstm_cell():
    def forward(m, x):
        h = c = torch.zeros(x.shape[0], 6)
        for i in range(5):
            h, c = m.cell(x[:, i], (h, c))
        return h
    return Apply(forward, cell=nn.LSTMCell(4, 6))


@module(example(1, 8, 16))
def transformer_encoder():
    return nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, activation="relu")


@module(example(1, 6, 16), example(1, 9, 16))
def transformer_decoder():
    return nn.TransformerDecoderLayer(16, 2, 32, batch_first=True)


@module(example(1, 6, 16))
def masked_attention():
    def forward(m, x):
        mask = torch.triu(torch.full((6, 6), float("-inf")), 1)
        return m.attention(x, x, x, attn_mask=mask, need_weights=True)
    return Apply(forward, attention=nn.MultiheadAttention(16, 4, batch_first=True))


@module(example(1, 2, 7, 8), example(1, 2, 7, 8), example(1, 2, 7, 8))
def causal_attention():
    return Apply(lambda m, q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True))


@module(example(1, 7, 12))
def rotary_attention():
    def forward(m, x):
        q, k = m.q(x), m.k(x)
        angles = torch.arange(7)[:, None] * m.frequencies[None, :]
        cos, sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
        q, k = (y * cos + torch.cat((-y[..., 6:], y[..., :6]), -1) * sin for y in (q, k))
        return F.softmax(q @ k.mT / 12 ** 0.5, -1) @ x
    return Apply(forward, q=nn.Linear(12, 12), k=nn.Linear(12, 12),
                 frequencies=nn.Parameter(10000 ** (-torch.arange(6) / 6)))


@module(example(1, 5, 16))
def swiglu():
    def forward(m, x):
        y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * m.scale
        return x + m.down(F.silu(m.gate(y)) * m.up(y))
    return Apply(forward, scale=nn.Parameter(torch.randn(16)), gate=nn.Linear(16, 24, bias=False),
                 up=nn.Linear(16, 24, bias=False), down=nn.Linear(24, 16, bias=False))


@module(example(1, 5, 16))
def rms_norm():
    return nn.Sequential(nn.RMSNorm(16), nn.Linear(16, 4))


@module(example(1, 9, high=50))
def language_model():
    def forward(m, tokens):
        y = m.embedding(tokens) + m.position(torch.arange(9))
        return F.log_softmax(m.layer(y) @ m.embedding.weight.T, -1)
    return Apply(forward, embedding=nn.Embedding(50, 8), position=nn.Embedding(9, 8),
                 layer=nn.TransformerEncoderLayer(8, 2, 16, batch_first=True))


@module(example(2, 6, high=20))
def embedding_bag():
    return Apply(lambda m, x: m.bag(x), bag=nn.EmbeddingBag(20, 5, mode="mean"))


@module(example(2, 5, 6), example(2, 7, 6))
def cross_attention_einsum():
    return Apply(lambda m, x, y: torch.einsum("bij,bjd->bid", torch.einsum("bid,bjd->bij", m.q(x), y).softmax(-1), y),
                 q=nn.Linear(6, 6))


@module(example(1, 2, 6, 4), example(1, 2, 6, 4), example(1, 2, 6, 4))
def linear_attention():
    def forward(m, q, k, v):
        q, k = F.elu(q) + 1, F.elu(k) + 1
        memory = torch.cumsum(k.unsqueeze(-1) * v.unsqueeze(-2), 2)
        return (q.unsqueeze(-2) @ memory).squeeze(-2) / (q * torch.cumsum(k, 2)).sum(-1, keepdim=True)
    return Apply(forward)


@module(example(1, 10, 8))
def conformer_convolution():
    def forward(m, x):
        y = F.glu(m.first(m.norm(x).transpose(1, 2)), 1)
        return x + m.last(F.silu(m.batch_norm(m.depthwise(y)))).transpose(1, 2)
    return Apply(forward, norm=nn.LayerNorm(8), first=nn.Conv1d(8, 16, 1), batch_norm=nn.BatchNorm1d(8),
                 depthwise=nn.Conv1d(8, 8, 5, padding=2, groups=8), last=nn.Conv1d(8, 8, 1))


@module(example(1, 6, 4))
def selective_scan():
    def forward(m, x):
        step, b, c = F.softplus(m.step(x)), m.b(x), m.c(x)
        state, outputs = torch.zeros(1, 4, 3), []
        for i in range(6):
            decay = torch.exp(step[:, i, :, None] * m.a)
            state = decay * state + (step[:, i] * x[:, i])[:, :, None] * b[:, i, None]
            outputs.append((state * c[:, i, None]).sum(-1))
        return torch.stack(outputs, 1)
    return Apply(forward, step=nn.Linear(4, 4), b=nn.Linear(4, 3), c=nn.Linear(4, 3),
                 a=nn.Parameter(-torch.rand(4, 3)))


@module(example(5, 6))
def mixture_of_experts():
    def forward(m, x):
        best, index = torch.topk(m.gate(x).softmax(-1), 2, -1)
        experts = torch.stack([layer(x) for layer in m.experts], 1)
        chosen = experts.gather(1, index.unsqueeze(-1).expand(-1, -1, 6))
        return (chosen * best.unsqueeze(-1)).sum(1)
    return Apply(forward, gate=nn.Linear(6, 3), experts=nn.ModuleList(nn.Linear(6, 6) for _ in range(3)))


@module(example(4, 9))
def perceptron():
    return nn.Sequential(nn.Linear(9, 16), nn.BatchNorm1d(16), nn.GELU(), nn.Dropout(0.2), nn.Linear(16, 3))


@module(example(1, 4))
def generator():
    return nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Unflatten(1, (8, 2, 2)),
                         nn.ConvTranspose2d(8, 4, 3, 2, 1, output_padding=1), nn.BatchNorm2d(4), nn.ReLU(),
                         nn.ConvTranspose2d(4, 1, 4, 2, 1), nn.Sigmoid())


@module(example(2, 20))
def autoencoder():
    def forward(m, x):
        y = m.decoder(m.encoder(x))
        return y, F.mse_loss(y, x, reduction="none").mean(1)
    return Apply(forward, encoder=nn.Sequential(nn.Linear(20, 8), nn.ReLU()), decoder=nn.Linear(8, 20))


@module(example(3, 7))
def top_classes():
    return Apply(lambda m, x: (*torch.topk(x, 3), x.argmax(-1), torch.sort(x, descending=True)[0], x.max(1).values))


@module(example(4, 6))
def scatters():
    def forward(m, x):
        index = torch.tensor([[0, 1, 2, 3, 0, 1]])
        y = torch.zeros(4, 6).scatter_add(0, index.expand(4, -1), x)
        y[:, 1] = x[:, 2]
        return y.index_select(1, torch.tensor([5, 0, 1])), x.masked_fill(x > 0.5, 0.0), torch.where(x < 0, x, y)
    return Apply(forward)


@module(example(2, 3, 5))
def statistics():
    return Apply(lambda m, x: (x.mean((1, 2)), x.std(2), x.var(1, unbiased=False), x.norm(dim=-1), x.sum(), x.amax(1),
                               x.prod(2), torch.logsumexp(x, 1), x.cumsum(2)))


@module(example(4, 6), example(4, 6))
def similarities():
    return Apply(lambda m, x, y: (F.cosine_similarity(x, y), F.normalize(x, dim=1) @ F.normalize(y, dim=1).T,
                                  torch.cdist(x, y), F.pairwise_distance(x, y)))


@module(example(3, 8))
def activations():
    functions = (F.elu, F.selu, F.celu, F.mish, F.softplus, F.softsign, F.hardshrink, F.softshrink, F.hardtanh,
                 F.tanhshrink, F.logsigmoid, F.relu6, lambda x: F.threshold(x, 0.1, -1.0), lambda x: F.gelu(x, approximate="tanh"))
    return Apply(lambda m, x: torch.stack([function(x) for function in functions]))


@module(example(3, 8))
def elementary():
    return Apply(lambda m, x: torch.stack([x.abs().sqrt(), x.exp(), x.sin(), x.cos(), x.atan(), x.erf(), x.floor(),
                                           x.ceil(), x.round(), x.sign(), x.clamp(-0.5, 0.7), x.neg(), x.square(),
                                           x.reciprocal(), x.tan().clamp(-9, 9), torch.atan2(x, x.flip(1)),
                                           torch.remainder(x, 0.7), torch.fmod(x, 0.7), x.trunc(), x.sinh(),
                                           (x * x + 1).log1p(), x.expm1(), torch.maximum(x, -x)]))


@module(example(5, 5), example(5, 5))
def triangles():
    return Apply(lambda m, x, y: (x.tril() @ y.triu(1), torch.outer(x[0], y[0]), x.diagonal(), torch.bmm(x[None], y[None]),
                                  torch.baddbmm(x[None], x[None], y[None]), torch.addmm(x, x, y)))


@module(example(2, 3, 4))
def shapes():
    return Apply(lambda m, x: (x.repeat(1, 2, 1).roll(1, 2), x.unsqueeze(1).expand(2, 5, 3, 4).flatten(1, 2),
                               torch.stack(x.unbind(1), 0), x.movedim(0, 2), x.narrow(2, 1, 2), x[..., ::2],
                               x.repeat_interleave(2, 1), torch.tile(x, (2, 1, 1)), x.swapaxes(0, 1).reshape(-1)))


@module(example(6, high=7))
def integers():
    return Apply(lambda m, x: (F.one_hot(x, 7).float(), x % 3, x // 2, (x > 2) & (x != 5), x.eq(3).logical_not(),
                               x.float().mean(), torch.bitwise_and(x, 5), x.clamp(min=2), -x))


@module(example(2, 5), example(2, 4))
def bilinear():
    return nn.Bilinear(5, 4, 3)


@module(example(1, 3, 32))
def max_pool_1d():
    return nn.Sequential(nn.Conv1d(3, 6, 5, stride=2, padding=2), nn.MaxPool1d(3, 2, 1), nn.ELU(), nn.AdaptiveMaxPool1d(4),
                         nn.ConvTranspose1d(6, 3, 4, 2, 1), nn.AvgPool1d(2))


@module(example(1, 32))
def spectrum():
    def forward(m, x):
        frames = x.unfold(1, 16, 8) * torch.hann_window(16)
        return torch.log(torch.fft.rfft(frames).abs() + 1e-3)
    return Apply(forward)


@module(example(1, 6, 8))
def set_pooling():
    def forward(m, x):
        y = F.relu(m.each(x))
        weights = torch.softmax(m.score(y), 1)
        return m.head(torch.cat([y.max(1)[0], (y * weights).sum(1), y.mean(1)], -1))
    return Apply(forward, each=nn.Linear(8, 12), score=nn.Linear(12, 1), head=nn.Linear(36, 4))
