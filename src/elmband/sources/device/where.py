"""Which device there is, and how much it takes at once."""

import math
from typing import Any

import numpy as np
from array_api_compat import is_cupy_array, is_torch_array

# Hidden outputs of so many numbers are had at once: a device wants large work.
_AT_ONCE = 2**28
_MOST_ROWS = 2**19
_LEAST_ROWS = 2**13
# Rows that take more than this share of the free memory stay where they are.
_SHARE = 0.4
# Bytes of a chunk that is read for a device.
_SENT_BYTES = 2**27


def resolve(device: str | None) -> Any:
    """Return the device of a name: None is where the rows are, "auto" a GPU if there is one."""
    if device is None:
        return None
    try:
        import torch  # noqa: PLC0415 (an optional dependency)
    except ImportError as error:
        if device == "auto":
            return None
        raise ImportError(
            f"device={device!r} needs PyTorch: pip install 'elmband[torch]'", name="torch"
        ) from error
    if device == "auto":
        return torch.device("cuda") if torch.cuda.is_available() else None
    try:
        found = torch.device(device)
        torch.empty(1, device=found)
    except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(
            f"device={device!r} cannot be used: {reason} Choose device='auto' to run on the "
            "processor where there is no such device."
        ) from error
    return found


def rows_at_once(width: int) -> int:
    """Return how many rows a device maps at once, far more than a processor."""
    return min(max(_AT_ONCE // width, _LEAST_ROWS), _MOST_ROWS)


def sent_rows(like: Any, most: int) -> int:
    """Return how many rows like these are read and sent at once, at most so many."""
    width = getattr(like, "n_features", None) or int(like.shape[1])
    return min(most, max(_SENT_BYTES // (width * int(like.dtype.itemsize)), 1))


def is_gpu_array(X: Any) -> bool:
    """Whether an array is in the memory of a GPU already."""
    return is_cupy_array(X) or (is_torch_array(X) and X.device.type == "cuda")


def room(device: Any) -> float:
    """Return how many bytes can stay on a device beside the work."""
    if device.type != "cuda":
        return math.inf
    import torch  # noqa: PLC0415

    free, _ = torch.cuda.mem_get_info(device)
    unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return _SHARE * float(free + unused)


def check_movable(like: Any) -> None:
    """Refuse rows of another library: they are on a device already."""
    if not isinstance(like, np.ndarray):
        raise ValueError(
            "device= moves NumPy arrays and scans; arrays of other libraries are worked on where "
            "they are: leave device=None."
        )
