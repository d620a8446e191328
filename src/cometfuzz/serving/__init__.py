"""The live page: campaigns in a browser while they run, and afterwards. It reads their folders and writes nothing."""
