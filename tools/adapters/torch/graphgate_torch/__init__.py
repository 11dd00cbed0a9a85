"""What graphgate needs on PyTorch's side: custom ops (ops.py)."""
