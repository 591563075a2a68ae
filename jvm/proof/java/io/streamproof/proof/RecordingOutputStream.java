package io.streamproof.proof;

import java.io.IOException;
import java.io.OutputStream;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.Syncable;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;
import org.apache.hadoop.fs.statistics.IOStatisticsSupport;

/** The raw local stream, with its probes for {@link Syncable}; its close is a step, its writes obey the faults. */
final class RecordingOutputStream extends OutputStream implements Syncable, StreamCapabilities, IOStatisticsSource {
  private final OutputStream inner;
  private final Recording recording;
  private final String path;
  private boolean synced;
  private boolean closed;

  RecordingOutputStream(OutputStream inner, Recording recording, String path) {
    this.inner = inner;
    this.recording = recording;
    this.path = path;
  }

  @Override
  public void write(int one) throws IOException {
    recording.beforeWrite();
    synced = false;
    inner.write(one);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    recording.beforeWrite();
    synced = false;
    inner.write(bytes, offset, length);
  }

  @Override
  public void flush() throws IOException {
    recording.refuseIfDead();
    inner.flush();
  }

  @Override
  public void hflush() throws IOException {
    recording.beforeWrite();
    ((Syncable) inner).hflush();
  }

  @Override
  public void hsync() throws IOException {
    recording.beforeWrite();
    ((Syncable) inner).hsync();
    synced = true;
  }

  @Override
  public void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    recording.closeFile(path, inner, synced);
  }

  @Override
  public boolean hasCapability(String capability) {
    return inner instanceof StreamCapabilities && ((StreamCapabilities) inner).hasCapability(capability);
  }

  @Override
  public IOStatistics getIOStatistics() {
    return IOStatisticsSupport.retrieveIOStatistics(inner);
  }
}
