package io.streamproof.proof;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.spark.SparkContext$;
import org.apache.spark.TaskContext;

/**
 * One recording: its journal, its blobs, its faults, and whether its process is dead.
 *
 * <p>An operation and its line in the journal happen under one lock, so that the journal's order is the disk's order. Lines go to
 * the operating system at once: they outlive a killed process. A blob is a copy named by its SHA-256, never a link: an overwrite
 * of the original cannot reach it (R16).
 */
final class Recording {
  /** An operation of the parent file system. */
  interface Operation<T> {
    T run() throws IOException;
  }

  /** So long it takes at most until the task knows that it is killed. */
  private static final long KILLED_SECONDS = 30;

  private final String id;
  private final Path folder;
  private final Path blobs;
  private final OutputStream journal;
  private final ReentrantLock lock = new ReentrantLock(true);
  private final List<Fault> faults = new ArrayList<>();
  private long sequence;
  private volatile boolean dead;
  private volatile boolean full;

  Recording(String id, Path folder) throws IOException {
    this.id = id;
    this.folder = folder;
    this.blobs = Files.createDirectories(folder.resolve("blobs"));
    this.journal = new FileOutputStream(folder.resolve("journal.jsonl").toFile(), true);
  }

  /** Runs one step with its faults around it, and writes it down if it took effect: not for false, nor for an exception. */
  <T> T step(String operation, String path, String destination, Operation<T> body) throws IOException {
    lock.lock();
    try {
      refuseIfDead();
      String target = destination == null ? path : destination;
      if (full && (operation.equals("create") || operation.equals("append"))) {
        throw noSpace(target);
      }
      Fault armed = armedFor(operation, target);
      if (armed != null && !armed.after) {
        fire(armed, target);
      }
      boolean directory = Files.isDirectory(Path.of(path));
      long inner = sequence;
      T result = body.run();
      // A rename that the parent did by copying has written down its parts; they are the truth.
      if (!Boolean.FALSE.equals(result) && (inner == sequence || !operation.equals("rename"))) {
        Entry entry = new Entry(operation, path).put("to", destination).put("directory", directory);
        if (operation.equals("truncate") || (operation.equals("rename") && !directory)) {
          contentOf(entry, target);
        }
        write(entry);
      }
      if (armed != null && armed.after) {
        fire(armed, target);
      }
      return result;
    } finally {
      lock.unlock();
    }
  }

  /** Closes a stream and keeps what the file then holds. */
  void closeFile(String path, OutputStream inner, boolean synced) throws IOException {
    lock.lock();
    try {
      if (dead) {
        inner.close(); // gives the descriptor back; the dead write nothing by it
        refuseIfDead();
      }
      Fault armed = armedFor("close", path);
      if (armed != null && !armed.after) {
        try {
          fire(armed, path);
        } finally {
          inner.close();
        }
      }
      inner.close();
      Entry entry = new Entry("close", path).put("synced", synced);
      if (Files.exists(Path.of(path))) { // deleted or renamed while open: that step has told what became of it
        contentOf(entry, path);
      }
      write(entry);
      if (armed != null && armed.after) {
        fire(armed, path);
      }
    } finally {
      lock.unlock();
    }
  }

  void beforeWrite() throws IOException {
    refuseIfDead();
    if (full) {
      throw noSpace(folder.toString());
    }
  }

  void refuseIfDead() {
    if (dead) {
      throw new ProcessDied("the process of recording " + id + " is dead");
    }
  }

  void arm(Fault fault) {
    lock.lock();
    try {
      faults.add(fault);
    } finally {
      lock.unlock();
    }
  }

  void disarm() {
    lock.lock();
    try {
      faults.clear();
      full = false;
    } finally {
      lock.unlock();
    }
  }

  boolean fired() {
    lock.lock();
    try {
      return !faults.isEmpty() && faults.stream().allMatch(fault -> fault.firedAt() != null);
    } finally {
      lock.unlock();
    }
  }

  String firedAt() {
    lock.lock();
    try {
      return String.join("\n", faults.stream().map(Fault::firedAt).filter(where -> where != null).toList());
    } finally {
      lock.unlock();
    }
  }

  long size() {
    lock.lock();
    try {
      return sequence;
    } finally {
      lock.unlock();
    }
  }

  void close() throws IOException {
    lock.lock();
    try {
      dead = true; // whoever still holds a stream or a file system of this recording is refused
      journal.close();
    } finally {
      lock.unlock();
    }
  }

  private Fault armedFor(String operation, String target) {
    Fault found = null;
    for (Fault fault : faults) {
      if (fault.counts(operation, target)) {
        found = fault;
      }
    }
    return found;
  }

  private void fire(Fault fault, String target) throws IOException {
    String where = (fault.after ? "after " : "before ") + fault.operation + " " + target;
    fault.fire(where);
    switch (fault.action) {
      case DIE -> {
        dead = true;
        throw new ProcessDied("the process of recording " + id + " died " + where);
      }
      case KILL -> {
        try (FileOutputStream marker = new FileOutputStream(folder.resolve("killed-here").toFile())) {
          marker.write((where + "\n").getBytes(StandardCharsets.UTF_8));
          marker.getFD().sync();
        }
        standStill();
      }
      case ENOSPC -> {
        full = true;
        throw noSpace(target);
      }
      case CALL -> call(fault.call);
      case RETRY -> endAttempt(where);
      default -> throw new IllegalStateException(fault.action.name());
    }
  }

  /** Tells the desk, and waits for its answer: one byte, or the end of the connection. */
  private static void call(String call) throws IOException {
    String[] parts = call.split(" ", 2);
    try (Socket desk = new Socket("127.0.0.1", Integer.parseInt(parts[0]))) {
      desk.getOutputStream().write((parts[1] + "\n").getBytes(StandardCharsets.UTF_8));
      desk.getInputStream().read();
    }
  }

  /**
   * Ends the attempt of the task of this thread. Spark tries a task that was killed again, however few failures it allows: a local
   * master allows none.
   */
  private static void endAttempt(String where) throws IOException {
    TaskContext task = TaskContext.get();
    if (task == null) {
      throw new IllegalStateException("no task is at work " + where);
    }
    SparkContext$.MODULE$.getActive().get().killTaskAttempt(task.taskAttemptId(), false, "a fault of the proof");
    long patience = System.nanoTime() + TimeUnit.SECONDS.toNanos(KILLED_SECONDS);
    while (!task.isInterrupted() && System.nanoTime() < patience) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
    throw new IOException("the attempt of the task ended " + where);
  }

  private static void standStill() {
    CountDownLatch never = new CountDownLatch(1);
    while (true) {
      try {
        never.await();
      } catch (InterruptedException interruption) {
        // A stopped query interrupts its thread; the disk must stand still until the kill arrives.
      }
    }
  }

  private static IOException noSpace(String path) {
    return new IOException(path + ": No space left on device");
  }

  private void contentOf(Entry entry, String path) throws IOException {
    Path file = Path.of(path);
    Path partial = blobs.resolve(".partial");
    MessageDigest sha = sha256();
    try (InputStream in = Files.newInputStream(file);
        OutputStream out = new DigestOutputStream(Files.newOutputStream(partial), sha)) {
      in.transferTo(out);
    }
    String digest = HexFormat.of().formatHex(sha.digest());
    Path blob = blobs.resolve(digest);
    entry.put("size", Files.size(partial)).put("sha256", digest).put("modified_ms", Files.getLastModifiedTime(file).toMillis());
    if (Files.exists(blob)) {
      Files.delete(partial);
    } else {
      Files.move(partial, blob, StandardCopyOption.ATOMIC_MOVE);
      blob.toFile().setReadOnly();
    }
  }

  private void write(Entry entry) throws IOException {
    journal.write((entry.line(sequence) + "\n").getBytes(StandardCharsets.UTF_8));
    sequence++;
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
