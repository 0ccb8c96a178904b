"""Streams: SQL models over Structured Streaming, whose batches the engine of the macros writes."""
