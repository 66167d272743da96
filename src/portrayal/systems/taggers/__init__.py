"""Image taggers: the vendors' services, vision-language models, local readers."""
