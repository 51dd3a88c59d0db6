"""Data sets that lm-eval poses and marks: where each one's rows come from, and in which order they are asked."""
