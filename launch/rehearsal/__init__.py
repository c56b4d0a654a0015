"""A stand-in server: MiniCPM-o's wire in front of small CPU models. It never claims to be MiniCPM-o."""
