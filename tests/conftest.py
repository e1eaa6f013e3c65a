"""What holds for all tests."""

from hypothesis import settings

# A deadline would be a timed assertion: other tests run at the same time.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
