"""Process graphs: who talks to whom, how much; generated, read and written."""
