package io.streamproof;

/** What the driver does with a micro-batch; implemented in Python. */
public interface BatchFunction {
  void call(BatchRows rows, long batch);
}
