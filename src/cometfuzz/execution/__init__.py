"""Running cases on libraries: environments, workers, and what passes between them."""
