"""PyTorch as an executor for graphgate, and models for it (docs/torch.md)."""
