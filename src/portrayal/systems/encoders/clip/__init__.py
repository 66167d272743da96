"""CLIP and models of its form, on torch alone: sizes, network, checkpoints, pictures, tokens, saliency."""
