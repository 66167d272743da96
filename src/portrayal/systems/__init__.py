"""What can be asked: taggers, captioners, encoders, rankers, generators, and the plug-ins."""
