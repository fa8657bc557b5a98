"""Exported models, run by onnxruntime and held against Python."""

import numpy as np
import onnx
import onnxruntime

from elmband.models.onnx_export import to_onnx
from elmband.models.onnx_export._graph import DOUBLE, Graph, Port
from elmband.models.onnx_export._proto import About, model_proto

# Float64 models differ by the order of sums alone, float32 ones by theirs.
TOLERANCE = {"float64": 1e-10, "float32": 1e-5}
# Unless a model is exact, its variances of the mean are sums of squares in float32.
ROUNDED = 1e-6
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)


class Session:
    """A model as a file holds it, in a runtime that has never heard of elmband."""

    def __init__(self, proto):
        options = onnxruntime.SessionOptions()
        # It would say of every model that an input has a default.
        options.log_severity_level = 3
        options.intra_op_num_threads = 1
        onnx.checker.check_model(proto, full_check=True)
        self.inner = onnxruntime.InferenceSession(proto.SerializeToString(), options)
        self.names = [output.name for output in self.inner.get_outputs()]

    @classmethod
    def of(cls, model, **options):
        return cls(to_onnx(model, **options))

    def __call__(self, X, level=None):
        inputs = {"X": X} if level is None else {"X": X, "confidence_level": np.array(level)}
        return dict(zip(self.names, self.inner.run(None, inputs), strict=True))


def computed(function, values):
    """Return the column that a function of tensors makes of values (n, k), or of (n,)."""
    values = np.reshape(values, (len(values), -1)).astype(np.float64)
    graph = Graph(17)
    x = graph.input(Port("X", DOUBLE, ("n", values.shape[1]), ""))
    graph.output("y", function(x), ("n", 1), "")
    return Session(model_proto(graph, About("", {})))(values)["y"][:, 0]


def assert_close(found, expected, scale, times=1.0):
    """Check an output against Python, relative to its size and to the scale of the targets."""
    expected = np.asarray(expected)
    tolerance = times * TOLERANCE[str(expected.dtype)]
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(found[~finite], expected[~finite])
    found, expected = (np.where(finite, a, 0).astype(np.float64) for a in (found, expected))
    error = np.abs(found - expected) / (np.abs(expected) + scale)
    assert error.max(initial=0.0) < tolerance


def tolerance(model, dtype="float64"):
    """Return how well files and Python agree on what variances of a model have a part in."""
    stack = model.fitted_.stack
    rounded = stack is not None and stack.packed
    return max(TOLERANCE[dtype], ROUNDED) if rounded else TOLERANCE[dtype]


def assert_same_intervals(model, X, scale, levels=LEVELS, times=1.0):
    """Check mean, bounds at several levels and the standard deviation."""
    run = Session.of(model)
    dtype = str(model.predict(X[:1]).dtype)
    times = max(times, tolerance(model, dtype) / TOLERANCE[dtype])
    mean, std = model.predict(X, return_std=True)
    for level in levels:
        found = run(X, level)
        interval = model.predict_interval(X, level)
        assert_close(found["mean"], mean, scale, times)
        assert_close(found["lower"], interval[..., 0], scale, times)
        assert_close(found["upper"], interval[..., 1], scale, times)
        assert_close(found["std"], std, scale, times)


def rows(n=120, n_features=3, dtype="float64", seed=0):
    """Return training rows, noisy targets, and new rows, of which some are far away."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    noise = rng.normal(size=n) * (0.2 + 0.3 * np.abs(X[:, -1]))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + noise
    near, far = rng.normal(size=(150, n_features)), 30 * rng.normal(size=(20, n_features))
    new = np.concatenate([near, far])
    return X.astype(dtype), y, new.astype(dtype)
