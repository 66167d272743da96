"""Loaders of data sets of people: each gives one row per person with a picture, factors, license and consent."""
