"""Where rows come from: tables, files, encoders and devices, as one chunk after the other."""
