"""Loaders, one module a data set. Photographs of real people are read in place and never copied."""
