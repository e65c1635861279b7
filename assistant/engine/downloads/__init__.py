"""Fetching a model file from a hub: asked for by a person, resumed after a cut, checked before it counts."""
