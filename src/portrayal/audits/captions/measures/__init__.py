"""Five representational harms in captions (Wang, Barocas, Laird, Wallach 2022, FAccT), one technique a file."""
