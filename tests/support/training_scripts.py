"""Small training scripts as people write them, each a function of the device; counted from above and from inside."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.nn.utils import clip_grad_norm_, parametrizations
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

SCRIPTS: dict[str, Callable[[torch.device], object]] = {}


def script(function: Callable[[torch.device], object]) -> Callable[[torch.device], object]:
    """Register a script under its name."""
    SCRIPTS[function.__name__] = function
    return function


def mlp(inputs: int = 8, classes: int = 3) -> nn.Sequential:
    """Return a small network for vectors."""
    return nn.Sequential(nn.Linear(inputs, 16), nn.ReLU(), nn.Linear(16, classes))


def cnn() -> nn.Sequential:
    """Return a small network for 8 x 8 images."""
    first = (nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))
    return nn.Sequential(*first, nn.Conv2d(4, 8, 3, stride=2), nn.GELU(), nn.Flatten(), nn.Linear(8, 3))


def vectors(n: int = 12) -> tuple[torch.Tensor, torch.Tensor]:
    """Return inputs and classes on the CPU."""
    return torch.randn(n, 8), torch.randint(3, (n,))


def images(n: int = 6) -> tuple[torch.Tensor, torch.Tensor]:
    """Return images and classes on the CPU."""
    return torch.rand(n, 1, 8, 8), torch.randint(3, (n,))


def step(optimizer: torch.optim.Optimizer, loss: torch.Tensor) -> None:
    """Take one training step."""
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


@script
def reads_every_loss(device):
    model, history = mlp().to(device), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(3):
        x, y = vectors()
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        step(optimizer, loss)
        history.append(loss.item())
    return history


@script
def reads_once(device):
    model, total = mlp().to(device), torch.zeros((), device=device)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        x, y = vectors()
        loss = F.cross_entropy(model(x.to(device)), y.to(device), label_smoothing=0.1)
        step(optimizer, loss)
        total += loss.detach()
    return float(total)


@script
def progress_bar(device):
    model = cnn().to(device)
    optimizer = torch.optim.Adam(model.parameters(), weight_decay=1e-2)
    lines = []
    for epoch in range(2):
        x, y = (tensor.to(device) for tensor in images())
        loss = F.cross_entropy(model(x), y)
        step(optimizer, loss)
        lines.append(f"epoch {epoch} loss {loss:.3f} {loss}")
    return lines


@script
def loader_with_accuracy(device):
    loader = DataLoader(TensorDataset(*images(10)), batch_size=4, shuffle=True)
    model, right = cnn().to(device), 0
    optimizer = torch.optim.RMSprop(model.parameters())
    for x, y in loader:
        logits, y_there = model(x.to(device, non_blocking=True)), y.to(device)
        step(optimizer, F.cross_entropy(logits, y_there))
        right += (logits.argmax(1) == y_there).sum().item()
    model.eval()
    with torch.no_grad():
        top = torch.cat([model(x.to(device)).topk(2).indices.cpu() for x, _ in loader])
    return right, top.tolist()


@script
def weighted_sampler(device):
    x, y = vectors()
    sampler = WeightedRandomSampler(torch.ones(12), 6)
    model = mlp().to(device)
    optimizer = torch.optim.Adagrad(model.parameters())
    weights = torch.tensor([1.0, 2.0, 3.0], device=device)
    for inputs, targets in DataLoader(TensorDataset(x, y), batch_size=3, sampler=sampler):
        step(optimizer, F.cross_entropy(model(inputs.to(device)), targets.to(device), weight=weights))


@script
def clipped_gradients(device):
    model, clipped = mlp().to(device), 0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(3):
        x, y = vectors()
        optimizer.zero_grad()
        F.cross_entropy(model(x.to(device)), y.to(device)).backward()
        if clip_grad_norm_(model.parameters(), 0.5, error_if_nonfinite=True) > 0.5:
            clipped += 1
        optimizer.step()
    return clipped


@script
def accumulated_gradients(device):
    model = mlp().to(device)
    optimizer = torch.optim.NAdam(model.parameters())
    for index in range(4):
        x, y = vectors()
        (F.cross_entropy(model(x.to(device)), y.to(device)) / 2).backward()
        if index % 2:
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)


@script
def float16_with_scaler(device):
    model = mlp().to(device)
    optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.1), torch.amp.GradScaler("mps")
    for _ in range(3):
        x, y = vectors()
        optimizer.zero_grad()
        with torch.autocast("mps", dtype=torch.float16):
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    return scaler.get_scale()


@script
def bfloat16_autocast(device):
    model = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.SiLU(), nn.Linear(16, 3)).to(device)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        x, y = vectors()
        with torch.autocast("mps", dtype=torch.bfloat16):
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
        step(optimizer, loss)


@script
def schedule_and_plateau(device):
    model = mlp().to(device)
    optimizer = torch.optim.Adam(model.parameters(), amsgrad=True)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 3)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
    for _ in range(3):
        x, y = vectors()
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        step(optimizer, loss)
        cosine.step()
        plateau.step(loss)  # reads it


@script
def early_stopping(device):
    model, best, patience = mlp().to(device), torch.tensor(float("inf"), device=device), 2
    optimizer = torch.optim.Rprop(model.parameters())
    for _ in range(3):
        x, y = vectors()
        loss = F.cross_entropy(model(x.to(device)), y.to(device)).detach()
        patience = 2 if loss < best else patience - 1
        best = min(loss, best)
        step(optimizer, F.cross_entropy(model(x.to(device)), y.to(device)))
    return patience


@script
def averaged_weights(device):
    model = mlp().to(device)
    average = torch.optim.swa_utils.AveragedModel(model)
    optimizer = torch.optim.Adamax(model.parameters())
    for _ in range(2):
        x, y = vectors()
        step(optimizer, F.cross_entropy(model(x.to(device)), y.to(device)))
        average.update_parameters(model)
    return average(x.to(device)).cpu()


@script
def checkpoint_and_resume(device):
    model, file = mlp().to(device), io.BytesIO()
    optimizer = torch.optim.AdamW(model.parameters())
    x, y = vectors()
    step(optimizer, F.cross_entropy(model(x.to(device)), y.to(device)))
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
    file.seek(0)
    state = torch.load(file, map_location=device)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    step(optimizer, F.cross_entropy(model(x.to(device)), y.to(device)))


@script
def keeps_the_best(device):
    model, best = mlp().to(device), None
    x, y = (tensor.to(device) for tensor in vectors())
    for _ in range(2):
        step(torch.optim.SGD(model.parameters(), lr=0.1), F.cross_entropy(model(x), y))
        best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    return {name: tensor.cpu() for name, tensor in best.items()}


@script
def lstm_language_model(device):
    embedding, lstm, head = (
        m.to(device) for m in (nn.Embedding(20, 8), nn.LSTM(8, 8, 2, batch_first=True), nn.Linear(8, 20))
    )
    parameters = [p for m in (embedding, lstm, head) for p in m.parameters()]
    optimizer, state = torch.optim.Adam(parameters), None
    for _ in range(2):
        tokens = torch.randint(20, (2, 7)).to(device)
        out, state = lstm(embedding(tokens[:, :-1]), state)
        state = tuple(part.detach() for part in state)
        step(optimizer, F.cross_entropy(head(out).flatten(0, 1), tokens[:, 1:].flatten()))


@script
def gru_regression(device):
    gru, head = nn.GRU(4, 6).to(device), nn.Linear(6, 1).to(device)
    optimizer = torch.optim.ASGD([*gru.parameters(), *head.parameters()])
    x = torch.randn(5, 3, 4).to(device)
    step(optimizer, F.huber_loss(head(gru(x)[0][-1]), torch.zeros(3, 1, device=device)))


@script
def transformer_encoder(device):
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).to(device)
    optimizer = torch.optim.AdamW(model.parameters())
    x = torch.randn(2, 5, 8).to(device)
    padding = torch.zeros(2, 5, dtype=torch.bool, device=device)
    padding[0, 3:] = True
    step(optimizer, model(x, src_key_padding_mask=padding).square().mean())
    with torch.inference_mode():
        return model.eval()(x).cpu()


@script
def causal_attention(device):
    q, k, v = (nn.Linear(8, 8).to(device) for _ in range(3))
    x = torch.randn(2, 6, 8, device=device)
    heads = [layer(x).view(2, 6, 2, 4).transpose(1, 2) for layer in (q, k, v)]
    F.scaled_dot_product_attention(*heads, is_causal=True).sum().backward()
    with torch.no_grad():
        return F.scaled_dot_product_attention(*heads, attn_mask=torch.ones(6, 6, device=device).tril().bool()).tolist()


@script
def autoencoder(device):
    down = nn.Sequential(nn.Conv2d(1, 4, 3, 2, 1), nn.ReLU()).to(device)
    up = nn.Sequential(nn.ConvTranspose2d(4, 1, 2, 2), nn.Sigmoid()).to(device)
    optimizer = torch.optim.Adam([*down.parameters(), *up.parameters()])
    x = images()[0].to(device)
    step(optimizer, F.binary_cross_entropy(up(down(x)), x))


@script
def variational_autoencoder(device):
    encoder, decoder = nn.Linear(8, 4).to(device), nn.Linear(2, 8).to(device)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()])
    x = vectors()[0].to(device)
    mean, log_variance = encoder(x).chunk(2, 1)
    code = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
    divergence = -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).sum(1).mean()
    step(optimizer, F.mse_loss(decoder(code), x) + divergence)
    return divergence.cpu().item()


@script
def adversarial(device):
    generator, critic = mlp(2, 8).to(device), mlp(8, 1).to(device)
    of_generator, of_critic = (torch.optim.Adam(m.parameters()) for m in (generator, critic))
    real = vectors()[0].to(device)
    fake = generator(torch.randn(12, 2, device=device))
    logits = critic(fake.detach())
    loss = F.softplus(-critic(real)).mean() + F.binary_cross_entropy_with_logits(logits, torch.zeros_like(logits))
    step(of_critic, loss)
    step(of_generator, F.softplus(-critic(fake)).mean())
    print(f"{loss.item():.3f}", end="")


@script
def gradient_penalty(device):
    critic = mlp(8, 1).to(device)
    x = vectors()[0].to(device).requires_grad_()
    (gradient,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    (gradient.norm(2, dim=1) - 1).pow(2).mean().backward()
    return x.grad.norm().item()


@script
def contrastive(device):
    model = mlp(8, 4).to(device)
    left, right = (F.normalize(model(vectors()[0].to(device)), dim=1) for _ in range(2))
    scores = left @ right.t() / 0.1
    loss = F.cross_entropy(scores, torch.arange(12, device=device))
    loss.backward()
    return (scores.argmax(1) == torch.arange(12, device=device)).float().mean().item()


@script
def masked_loss(device):
    model = mlp().to(device)
    x, y = (tensor.to(device) for tensor in vectors())
    known = y > 0
    loss = F.cross_entropy(model(x)[known], y[known], reduction="sum") / known.sum()
    loss.backward()
    hardest = F.cross_entropy(model(x), y, reduction="none").topk(3).indices
    return x[hardest].cpu(), known.nonzero().squeeze(1).tolist()


@script
def detection_like(device):
    boxes, scores = torch.rand(10, 4, device=device), torch.rand(10, device=device)
    kept = scores > 0.5
    if kept.any():
        boxes, scores = boxes[kept], scores[kept]
    order = scores.argsort(descending=True)
    boxes = boxes[order]
    boxes[:, 2:].clamp_(min=0.1)
    return boxes.numel(), boxes.cpu().numpy().shape


@script
def speech_ctc(device):
    head = nn.Linear(6, 5).to(device)
    log_probs = head(torch.randn(9, 2, 6, device=device)).log_softmax(2)
    targets = torch.randint(1, 5, (2, 3), device=device)
    F.ctc_loss(log_probs, targets, [9, 8], [3, 2]).backward()


@script
def policy_gradient(device):
    policy, rewards = mlp(4, 2).to(device), []
    optimizer = torch.optim.Adam(policy.parameters())
    log_probs = []
    for _ in range(3):
        state = torch.randn(4).to(device)
        distribution = torch.distributions.Categorical(logits=policy(state), validate_args=False)
        action = distribution.sample()
        log_probs.append(distribution.log_prob(action))
        rewards.append(float(action.item()))
    step(optimizer, -(torch.stack(log_probs) * torch.tensor(rewards, device=device)).sum())


@script
def second_order(device):
    weight = nn.Parameter(torch.ones(3, device=device))
    optimizer = torch.optim.LBFGS([weight], max_iter=3)

    def closure():
        optimizer.zero_grad()
        loss = (weight - 2).pow(2).sum()
        loss.backward()
        return loss

    return optimizer.step(closure).item()


@script
def activation_checkpoints(device):
    blocks = [nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.1), nn.ReLU()).to(device) for _ in range(2)]
    x = vectors()[0].to(device).requires_grad_()
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
    x.sum().backward()


@script
def weight_and_spectral_norm(device):
    model = nn.Sequential(
        parametrizations.weight_norm(nn.Linear(8, 8)), parametrizations.spectral_norm(nn.Linear(8, 3))
    ).to(device)
    x, y = vectors()
    step(torch.optim.SGD(model.parameters(), lr=0.1), F.cross_entropy(model(x.to(device)), y.to(device)))


class _Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x.sigmoid()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        s = x.sigmoid()
        return grad * (s + x * s * (1 - s))


@script
def own_function_and_hooks(device):
    model, norms = mlp().to(device), []
    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(lambda p: norms.append(p.grad.norm().item()))
    x, y = vectors()
    F.cross_entropy(model(_Swish.apply(x.to(device))), y.to(device)).backward()
    return norms


@script
def missing_operators(device):
    x = torch.randn(6, 4).to(device).requires_grad_()
    loss = torch.pdist(x).mean() + F.rrelu(x, training=True).sum()
    loss.backward()
    mode = x.detach().mode(dim=1).values
    return loss.item(), mode.cpu(), torch.linalg.eigvals(x.detach()[:4]).abs().max().item()


@script
def embedding_with_max_norm(device):
    embedding = nn.Embedding(10, 4, max_norm=1.0).to(device)
    bag = nn.EmbeddingBag(10, 4, mode="mean").to(device)
    tokens = torch.randint(10, (3, 5)).to(device)
    (embedding(tokens).sum() + bag(tokens).sum()).backward()


@script
def statistics_of_a_run(device):
    x = torch.randn(200).to(device)
    lines = [x.mean().item(), x.std().item(), x.max().item(), x.histc(5, -3, 3).tolist(), x.sort().values[:3].tolist()]
    lines.append(torch.unique((x * 2).round()).numel())
    print(x[:3], x.isnan().any().item(), torch.allclose(x, x), end="")
    return lines


@script
def graph_network(device):
    edges = torch.randint(5, (2, 12)).to(device)
    nodes, layer = torch.randn(5, 4).to(device), nn.Linear(4, 4).to(device)
    messages = layer(nodes)[edges[0]]
    summed = torch.zeros_like(nodes).index_add_(0, edges[1], messages)
    degree = torch.zeros(5, device=device).scatter_add_(0, edges[1], torch.ones(12, device=device))
    (summed / degree.clamp(min=1)[:, None]).pow(2).sum().backward()
    return torch.bincount(edges[1], minlength=5).cpu()


@script
def channels_last_unet(device):
    down, up = nn.Conv2d(3, 4, 3, 2, 1).to(device), nn.Conv2d(7, 2, 3, 1, 1).to(device)
    x = torch.rand(2, 3, 8, 8).to(device, memory_format=torch.channels_last)
    hidden = F.interpolate(down(x), scale_factor=2, mode="bilinear", align_corners=False)
    logits = up(torch.cat([hidden, x], 1))
    F.cross_entropy(logits, torch.randint(2, (2, 8, 8)).to(device)).backward()


@script
def synchronized_timing(device):
    model, x = mlp().to(device), vectors()[0].to(device)
    torch.mps.synchronize()
    model(x)
    event = torch.mps.Event()
    event.record()
    event.synchronize()
    torch.accelerator.synchronize()
    torch.mps.empty_cache()
