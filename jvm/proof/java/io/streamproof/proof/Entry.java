package io.streamproof.proof;

import java.util.Locale;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkContext$;
import org.apache.spark.TaskContext;
import scala.Option;

/** One line of the journal under construction: JSON with the keys that prove/record/journal.py reads; absent means null or false. */
final class Entry {
  private static final String BATCH = "streaming.sql.batchId";

  private final StringBuilder fields = new StringBuilder();

  Entry(String operation, String path) {
    put("op", operation).put("path", path).put("thread", Thread.currentThread().getName());
    TaskContext task = TaskContext.get();
    if (task != null) {
      put("batch", number(task.getLocalProperty(BATCH)));
      put("stage", (long) task.stageId()).put("partition", (long) task.partitionId()).put("attempt", task.taskAttemptId());
    } else {
      Option<SparkContext> active = SparkContext$.MODULE$.getActive();
      if (active.isDefined() && !active.get().isStopped()) {
        put("batch", number(active.get().getLocalProperty(BATCH)));
      }
    }
  }

  Entry put(String key, Long value) {
    return value == null ? this : raw(key, value.toString());
  }

  Entry put(String key, String value) {
    return value == null ? this : raw(key, quoted(value));
  }

  Entry put(String key, boolean value) {
    return value ? raw(key, "true") : this;
  }

  String line(long sequence) {
    return "{\"seq\":" + sequence + fields + "}";
  }

  private Entry raw(String key, String json) {
    fields.append(",\"").append(key).append("\":").append(json);
    return this;
  }

  private static Long number(String text) {
    return text == null ? null : Long.valueOf(text);
  }

  private static String quoted(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (char letter : text.toCharArray()) {
      if (letter == '"' || letter == '\\') {
        out.append('\\').append(letter);
      } else if (letter < ' ') {
        out.append(String.format(Locale.ROOT, "\\u%04x", (int) letter));
      } else {
        out.append(letter);
      }
    }
    return out.append('"').toString();
  }
}
