"""Memory of tensors over several calls: what they held, and copies of inputs that stay."""

import torch


class Bytes:
    """What storages hold, to be put back."""

    def __init__(self, tensors):
        storages = {t.untyped_storage().data_ptr(): t.untyped_storage() for t in tensors}
        self._kept = [(storage, storage.clone()) for storage in storages.values()]

    def restore(self):
        for storage, held in self._kept:
            storage.copy_(held)


class Static:
    """Memory for the inputs of one signature, laid out and shared as those are."""

    def __init__(self, inputs, states):
        own = {t.untyped_storage().data_ptr() for t in states}
        self._storages = []  # one for each of theirs: None where a state has it
        numbers = {}
        self.inputs = []
        for each in inputs:
            if not isinstance(each, torch.Tensor):
                self.inputs.append(each)
                continue
            storage = each.untyped_storage()
            if storage.data_ptr() in own or not storage.nbytes():
                self.inputs.append(each)
                continue
            if storage.data_ptr() not in numbers:
                numbers[storage.data_ptr()] = len(self._storages)
                self._storages.append(torch.UntypedStorage(storage.nbytes(), device=each.device))
            held = self._storages[numbers[storage.data_ptr()]]
            made = torch.empty(0, dtype=each.dtype, device=each.device)
            self.inputs.append(
                made.set_(held, each.storage_offset(), each.size(), each.stride())
            )

    def fill(self, inputs):
        """Copies the bytes of inputs with the same signature, and returns what the program gets."""
        for place, (each, held) in enumerate(zip(inputs, self.inputs)):
            if isinstance(each, torch.Tensor) and held is not each:
                held.untyped_storage().copy_(each.untyped_storage())
            elif not isinstance(each, torch.Tensor):
                self.inputs[place] = each
        return self.inputs
