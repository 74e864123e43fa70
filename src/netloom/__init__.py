"""Will this program's communication contend on this network, where, and what fixes it?"""
