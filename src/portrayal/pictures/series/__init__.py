"""Series on disk: a manifest and pictures, whoever made them."""
