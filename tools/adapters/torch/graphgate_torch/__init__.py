"""PyTorch as an executor for graphgate, and models for it (docs/torch.md)."""


def record(folder, *, calls=3, decompose=False):
    """Returns a backend of torch.compile that stores each graph, while it runs as in eager mode.

        model = torch.compile(model, backend=graphgate_torch.record("folder"))

        with graphgate_torch.record("folder"):  # whatever is compiled inside, with any backend
            train()

    FOLDER/graphN_inference.pt2, or graphN_forward.pt2 and graphN_backward.pt2, are archives of the
    ATen graphs; a recording of the first `calls` calls of each lies beside it. `decompose`: to the ops
    of torch.export's core set. What cannot be stored is told in a line on standard error.
    """
    from graphgate_torch import capture

    return capture.Backend(folder, calls, decompose)
