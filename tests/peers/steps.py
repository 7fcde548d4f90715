#!/usr/bin/env python3
"""Training steps of the meta-learners in PyTorch and JAX: what `./lab bench --peers` compares ours with.

Synthetic data of the shapes that tests/browser_bench/peers.rs uses, one thread, processor time. A 'loop' goes
over the tasks in Python, as research code does; 'batch' has all tasks in one tensor; 'shared' evaluates the
net once where all tasks share their inputs; 'scan' compiles many steps into one loop. ANIL and MAML take one
inner gradient step on the first half of the rows and are judged on the second, with second derivatives; so
does CAVIA, on a context that enters the net as further inputs. R2-D2 solves a ridge regression on the first half.
Prints one JSON record a peer: milliseconds of a step, tenth percentile and median.
"""
import json
import os
import sys
import time

os.environ.update(OMP_NUM_THREADS="1", JAX_PLATFORMS="cpu", XLA_FLAGS="--xla_cpu_multi_thread_eigen=false")

import numpy as np

# tasks, rows a task, rows a step, inputs, hidden layers, rank, whether tasks share their inputs
SHAPES = {
    "cartpole": (4, 1600, 200, 6, [16, 16, 16], 4, False),
    "charges-pair": (25, 400, 300, 2, [16, 16], 3, True),
}
RATE, INNER_RATE = 5e-3, 0.1
CONTEXT_PENALTY, NETWORK_PENALTY = 1e-5, 1e-4


def data(shape):
    """Inputs [T, N, d] and targets [T, N]."""
    tasks, rows, _, inputs, _, _, shared = shape
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1 if shared else tasks, rows, inputs))
    x = np.broadcast_to(x, (tasks, rows, inputs))
    factors = 1 + 0.1 * np.arange(tasks)[:, None, None]
    return x.astype("f4"), np.sin(factors * x).sum(-1).astype("f4")


def report(peer, system, times):
    p10, median = (1e3 * float(np.quantile(times, q)) for q in (0.1, 0.5))
    print(json.dumps({"peer": peer, "system": system, "p10_ms": round(p10, 4), "median_ms": round(median, 4)}), flush=True)


def measure(step, seconds=3.0):
    """Processor times of a step."""
    for _ in range(5):
        step()
    times, begun = [], time.process_time()
    while len(times) < 10 or time.process_time() - begun < seconds:
        start = time.process_time()
        step()
        times.append(time.process_time() - start)
    return times


def torch_peers(system, shape):
    import torch
    from torch.nn.functional import linear

    torch.set_num_threads(1)
    torch.manual_seed(0)
    tasks, rows, batch, inputs, hidden, rank, shared = shape
    x, y = (torch.tensor(values) for values in data(shape))
    half = batch // 2

    def sizes(outputs):
        widths = [inputs, *hidden, outputs]
        return list(zip(widths, widths[1:]))

    def first_weights(outputs):
        return [w for a, b in sizes(outputs) for w in (torch.randn(b, a) / a**0.5, torch.zeros(b))]

    def net(weights, h):
        for k in range(0, len(weights), 2):
            h = linear(h, weights[k], weights[k + 1])
            h = torch.tanh(h) if k + 2 < len(weights) else h
        return h

    def leaves(tensors):
        return [tensor.requires_grad_() for tensor in tensors]

    def mean_square(outputs, targets):
        return ((outputs - targets) ** 2).mean()

    def trained(parameters, loss):
        optimiser = torch.optim.Adam(parameters, lr=RATE)
        rng = np.random.default_rng(1)

        def step():
            rows_now = torch.from_numpy(rng.choice(rows, batch, replace=False))
            optimiser.zero_grad()
            value = loss(rows_now)
            value.backward()
            optimiser.step()
            return value.item()

        return step

    def camel(kind):
        weights, heads = leaves(first_weights(rank)), leaves([torch.randn(tasks, rank).abs()])[0]
        losses = {
            "loop": lambda i: sum(mean_square(net(weights, x[t][i]) @ heads[t], y[t][i]) for t in range(tasks)) / tasks,
            "batch": lambda i: mean_square(torch.einsum("tbr,tr->tb", net(weights, x[:, i]), heads), y[:, i]),
            "shared": lambda i: mean_square(net(weights, x[0][i]) @ heads.T, y[:, i].T),
        }
        return trained([*weights, heads], losses[kind])

    def anil():
        weights, head = leaves(first_weights(rank)), leaves([torch.randn(rank) / rank**0.5])[0]

        def of_task(t, i):
            features, targets = net(weights, x[t][i]), y[t][i]
            inner = 0.5 * mean_square(features[:half] @ head, targets[:half])
            (slope,) = torch.autograd.grad(inner, head, create_graph=True)
            return mean_square(features[half:] @ (head - INNER_RATE * slope), targets[half:])

        return trained([*weights, head], lambda i: sum(of_task(t, i) for t in range(tasks)) / tasks)

    def maml():
        parameters = leaves([*first_weights(rank), torch.randn(rank) / rank**0.5])

        def of_task(t, i):
            inputs_now, targets = x[t][i], y[t][i]
            inner = 0.5 * mean_square(net(parameters[:-1], inputs_now[:half]) @ parameters[-1], targets[:half])
            slopes = torch.autograd.grad(inner, parameters, create_graph=True)
            moved = [p - INNER_RATE * slope for p, slope in zip(parameters, slopes)]
            return mean_square(net(moved[:-1], inputs_now[half:]) @ moved[-1], targets[half:])

        return trained(parameters, lambda i: sum(of_task(t, i) for t in range(tasks)) / tasks)

    def coda():
        shapes = [w.shape for w in first_weights(1)]
        flat = torch.cat([w.flatten() for w in first_weights(1)])
        theta, hyper, contexts = leaves([flat, 0.1 * torch.randn(len(flat), rank), torch.zeros(tasks, rank)])

        def of_task(t, i):
            parts = (theta + hyper @ contexts[t]).split([s.numel() for s in shapes])
            weights = [part.view(s) for part, s in zip(parts, shapes)]
            return mean_square(net(weights, x[t][i])[:, 0], y[t][i])

        def loss(i):
            penalty = CONTEXT_PENALTY * (contexts**2).sum() + NETWORK_PENALTY * hyper.square().sum(1).add(1e-12).sqrt().sum()
            return (sum(of_task(t, i) for t in range(tasks)) + penalty) / tasks

        return trained([theta, hyper, contexts], loss)

    def r2d2():
        weights, ridge = leaves(first_weights(rank)), leaves([torch.tensor(1e-3).log()])[0]

        def of_task(t, i):
            features, targets = net(weights, x[t][i]), y[t][i]
            support, aims = features[:half], targets[:half]
            gram = support.T @ support / half + ridge.exp() * torch.eye(rank)
            head = torch.linalg.solve(gram, support.T @ aims / half)
            return mean_square(features[half:] @ head, targets[half:])

        return trained([*weights, ridge], lambda i: sum(of_task(t, i) for t in range(tasks)) / tasks)

    def cavia():
        widths = [inputs + rank, *hidden, 1]
        weights = leaves([w for a, b in zip(widths, widths[1:]) for w in (torch.randn(b, a) / a**0.5, torch.zeros(b))])

        def outputs(rows_now, context):
            joined = torch.cat([rows_now, context.expand(len(rows_now), rank)], 1)
            return net(weights, joined)[:, 0]

        def of_task(t, i):
            inputs_now, targets = x[t][i], y[t][i]
            context = torch.zeros(rank, requires_grad=True)
            inner = 0.5 * mean_square(outputs(inputs_now[:half], context), targets[:half])
            (slope,) = torch.autograd.grad(inner, context, create_graph=True)
            return mean_square(outputs(inputs_now[half:], context - INNER_RATE * slope), targets[half:])

        return trained(weights, lambda i: sum(of_task(t, i) for t in range(tasks)) / tasks)

    for kind in ["loop", "batch"] + ["shared"] * shared:
        report(f"camel torch-{kind}", system, measure(camel(kind)))
    for learner in (anil, maml, coda, r2d2, cavia):
        report(f"{learner.__name__} torch-loop", system, measure(learner()))


def jax_peers(system, shape):
    import jax
    import jax.numpy as jnp

    tasks, rows, batch, inputs, hidden, rank, shared = shape
    x, y = (jnp.array(values) for values in data(shape))
    rng = np.random.default_rng(1)
    widths = [inputs, *hidden, rank]
    layers = [(rng.normal(size=(a, b)) / a**0.5, np.zeros(b)) for a, b in zip(widths, widths[1:])]
    heads = np.abs(rng.normal(size=(tasks, rank)))
    tree = jax.tree_util.tree_map
    parameters = tree(lambda value: jnp.array(value, "float32"), {"layers": layers, "heads": heads})

    def loss(parameters, i):
        h = x[0, i] if shared else x[:, i]
        for k, (matrix, bias) in enumerate(parameters["layers"]):
            h = h @ matrix + bias
            h = jnp.tanh(h) if k + 1 < len(layers) else h
        outputs = parameters["heads"] @ h.T if shared else jnp.einsum("tbr,tr->tb", h, parameters["heads"])
        return ((outputs - y[:, i]) ** 2).mean()

    def step(state, i):
        parameters, mean, square, count = state
        value, slope = jax.value_and_grad(loss)(parameters, i)
        count += 1
        mean = tree(lambda m, g: 0.9 * m + 0.1 * g, mean, slope)
        square = tree(lambda s, g: 0.999 * s + 0.001 * g * g, square, slope)

        def moved(p, m, s):
            return p - RATE * (m / (1 - 0.9**count)) / (jnp.sqrt(s / (1 - 0.999**count)) + 1e-8)

        return (tree(moved, parameters, mean, square), mean, square, count), value

    steps, zeros = 200, tree(jnp.zeros_like, parameters)
    scan = jax.jit(lambda state, rows_now: jax.lax.scan(step, state, rows_now))
    state = [(parameters, zeros, zeros, jnp.zeros(()))]

    def many():
        rows_now = np.stack([rng.choice(rows, batch, replace=False) for _ in range(steps)]).astype("i4")
        state[0], values = scan(state[0], rows_now)
        values.block_until_ready()

    report("camel jax-scan", system, [t / steps for t in measure(many)])


def is_installed(library):
    try:
        __import__(library)
    except (ImportError, OSError, ValueError):
        print(f"{library} is not installed: its peers are left out", file=sys.stderr)
        return False
    return True


def main():
    libraries = [("torch", torch_peers), ("jax", jax_peers)]
    installed = [peers for library, peers in libraries if is_installed(library)]
    for system, shape in SHAPES.items():
        for peers in installed:
            peers(system, shape)


if __name__ == "__main__":
    main()
