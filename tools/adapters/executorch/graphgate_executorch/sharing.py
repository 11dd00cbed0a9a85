"""Tells which outputs share memory. ExecuTorch hands out copies, so eager mode is asked.

An output may be a view of an input, of a state or of another output in eager mode. It is told as one
where ExecuTorch's copy has the bytes that this view shows. So values are ExecuTorch's own,
and what a copy hides is no difference.
"""

import contextlib

import torch


def _key(tensor):
    return tensor.untyped_storage()._cdata


def bytes_of(tensor):
    """The elements as bytes, in row-major order."""
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8)


def _seen(storage, like):
    """The storage as the output of eager mode sees it."""
    return torch.empty(0, dtype=like.dtype).set_(
        storage, like.storage_offset(), like.shape, like.stride()
    )


class Sharing:
    """Of one call: runs the module in eager mode, and puts inputs and states back."""

    def __init__(self, module, inputs, states):
        given = [each for each in (*inputs, *states) if isinstance(each, torch.Tensor)]
        self._given = {_key(each): each.untyped_storage() for each in given}
        self._keys = [_key(each) for each in given]
        before = {key: storage.clone() for key, storage in self._given.items()}
        try:
            self._outputs = [
                each.resolve_conj().resolve_neg() if isinstance(each, torch.Tensor) else each
                for each in module(*inputs)
            ]
        finally:
            for key, storage in self._given.items():
                storage.copy_(before[key])

    def is_shared(self, tensors):
        """Whether another input, or a state, lies in the memory of one of these."""
        return any(self._keys.count(_key(each)) > 1 for each in tensors)

    def told(self, outputs):
        """The outputs, with shared memory where eager mode shares it and the bytes allow it."""
        outputs = list(outputs)
        if len(outputs) != len(self._outputs):
            return outputs
        groups = {}
        for i, (like, output) in enumerate(zip(self._outputs, outputs)):
            if isinstance(like, torch.Tensor) and isinstance(output, torch.Tensor):
                groups.setdefault(_key(like), []).append(i)
        for key, members in groups.items():
            if key in self._given:
                for i in members:
                    self._take(outputs, i, self._given[key])
            elif len(members) > 1:
                self._join(outputs, members)
        return outputs

    def _take(self, outputs, i, storage):
        like = self._outputs[i]
        if like.dtype != outputs[i].dtype or like.shape != outputs[i].shape:
            return False
        seen = _seen(storage, like)
        if torch.equal(bytes_of(seen), bytes_of(outputs[i])):
            outputs[i] = seen
            return True
        return False

    def _join(self, outputs, members):
        """Outputs that share new memory: ExecuTorch's elements are put where eager mode has them."""
        storage = self._outputs[members[0]].untyped_storage().clone()
        with contextlib.suppress(RuntimeError):  # elements of one output that lie in one place
            for i in members:
                _seen(storage, self._outputs[i]).copy_(outputs[i])
        joined = list(outputs)
        if all(self._take(joined, i, storage) for i in members):
            outputs[:] = joined
