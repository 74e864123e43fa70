"""What can be asked: one folder a question, from which Python, command line and files follow."""
