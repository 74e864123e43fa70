"""What can be asked: one module a question, from which Python, command line and files follow."""
