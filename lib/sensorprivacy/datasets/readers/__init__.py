"""Read the files of each data set: tables, network traffic and motion recordings."""
