"""Systems that answer: taggers, captioners, encoders, rankers, generators and plug-ins."""
