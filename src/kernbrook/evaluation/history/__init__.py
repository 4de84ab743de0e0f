"""What a stream has been like: windows of it, changes, data of before."""
