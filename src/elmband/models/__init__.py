"""Models as files that hold nothing to be run, and as ONNX graphs."""
