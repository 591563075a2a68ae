package io.streamproof;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkContext;
import org.apache.spark.util.AccumulatorV2;
import scala.Option;

/** The schemas (JSON) of the files that tasks have opened, each with the first of these files by name. */
final class SeenSchemas extends AccumulatorV2<String[], Map<String, String>> {
  private static final long serialVersionUID = 1L;
  private static final int KEPT = 100;
  private static final Map<String, SeenSchemas> OF_FOLDERS = new ConcurrentHashMap<>();

  private Map<String, String> fileOf = new TreeMap<>();

  /** Those of the files of a folder, as long as this Spark runs. */
  static SeenSchemas of(SparkContext context, String path) {
    return OF_FOLDERS.computeIfAbsent(
        context.applicationId() + " " + path,
        key -> {
          SeenSchemas made = new SeenSchemas();
          context.register(made, "schemas of " + path);
          return made;
        });
  }

  @Override
  public boolean isZero() {
    return fileOf.isEmpty();
  }

  @Override
  public AccumulatorV2<String[], Map<String, String>> copy() {
    SeenSchemas copied = new SeenSchemas();
    copied.fileOf = value();
    return copied;
  }

  @Override
  public synchronized void reset() {
    fileOf = new TreeMap<>();
  }

  /** A schema, and a file that has it. */
  @Override
  public synchronized void add(String[] schemaAndFile) {
    if (fileOf.size() < KEPT || fileOf.containsKey(schemaAndFile[0])) {
      fileOf.merge(schemaAndFile[0], schemaAndFile[1], (one, other) -> one.compareTo(other) <= 0 ? one : other);
    }
  }

  @Override
  public void merge(AccumulatorV2<String[], Map<String, String>> other) {
    other.value().forEach((schema, file) -> add(new String[] {schema, file}));
  }

  @Override
  public synchronized Map<String, String> value() {
    return new TreeMap<>(fileOf);
  }
}
