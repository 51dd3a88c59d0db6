"""A gate that tests itself: faults and harmless changes, planted as arms of one ordinary experiment on the shipped model."""
