"""Rules of one family; one module is one rule."""
