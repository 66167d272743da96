"""Power of the tests."""
