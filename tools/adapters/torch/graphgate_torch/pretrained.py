"""Models of transformers that are on disk: by their names on the Hugging Face Hub, or by folders."""

import os

import torch

# What the first input of a model is called, and what it holds.
_TOKENS, _IMAGES = "input_ids", "pixel_values"


class NotThere(Exception):
    """No such model on this machine, or none whose inputs are known here."""


def _sizes_of_image(config):
    config = getattr(config, "vision_config", config)
    size = getattr(config, "image_size", 32)
    height, width = size if isinstance(size, (list, tuple)) else (size, size)
    return getattr(config, "num_channels", 3), height, width


def _call(model, config, batch, length):
    """The keyword arguments of a call with `batch` rows of `length` tokens each."""
    name = model.main_input_name
    if name == _IMAGES:
        return {name: torch.rand(batch, *_sizes_of_image(config))}
    if name != _TOKENS:
        raise NotThere(f"it takes '{name}': write a function that returns 'module' and 'calls'")
    tokens = torch.randint(config.get_text_config().vocab_size, (batch, length))
    call = {name: tokens}
    if config.is_encoder_decoder:
        call["decoder_input_ids"] = tokens.flip(0)
    return call


def load(name, dynamic):
    """The model and two calls of it, as export.load returns them. Nothing is fetched.

    `dynamic`: the calls are of several batch sizes and lengths.
    """
    os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        import transformers
    except ImportError as error:
        raise NotThere(f"needs transformers: {error}") from error
    try:
        config = transformers.AutoConfig.from_pretrained(name, local_files_only=True)
        kind = getattr(transformers, (config.architectures or ["AutoModel"])[0])
        model = kind.from_pretrained(name, config=config, local_files_only=True)
    except (OSError, ValueError, KeyError, AttributeError) as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise NotThere(f"is no model that is on this disk: {said[0]}") from error
    model.config.use_cache = False
    model.config.return_dict = False
    torch.manual_seed(0)
    sizes = [(2, 8), (3, 11)] if dynamic else [(2, 8), (2, 8)]
    calls = [_call(model, config, batch, length) for batch, length in sizes]
    return {"module": model, "calls": [()] * len(calls), "kwargs": calls}
