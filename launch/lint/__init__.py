"""What is wrong with a deploy file before it costs a ten-minute start: keys dropped silently, blocks lost in a merge,
numbers that do not fit.
"""
