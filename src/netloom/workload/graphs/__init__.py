"""Process graphs: who talks to whom, how much. Generated, read and written."""
