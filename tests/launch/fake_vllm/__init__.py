"""A `vllm` for tests: what it is to the launcher, without a model."""
