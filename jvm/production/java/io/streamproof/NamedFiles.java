package io.streamproof;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.InMemoryFileIndex;
import org.apache.spark.sql.execution.datasources.LogicalRelation$;
import org.apache.spark.sql.execution.datasources.NoopCache$;
import org.apache.spark.sql.execution.datasources.PartitioningAwareFileIndex;
import org.apache.spark.sql.execution.streaming.runtime.MetadataLogFileIndex;
import org.apache.spark.sql.execution.streaming.sinks.FileStreamSink;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The rows of just the files and folders that are named, as Spark's own readers give them.
 *
 * <p>Spark takes a path with one of {@code {}[]*?\} for a pattern, and reads what it matches; a path that is escaped against that and has a
 * colon in its name it refuses. Here no character of a path means anything, and a file that would be left out is an error.
 */
public final class NamedFiles {
  private NamedFiles() {}

  /**
   * @param columns the schema (JSON) that is read, null for the one that the files say
   * @param paths a list (JSON)
   */
  public static Dataset<Row> rows(
      org.apache.spark.sql.SparkSession session, String format, Map<String, String> options, String columns, String paths)
      throws IOException {
    SparkSession spark = (SparkSession) session;
    StructType asked = columns == null ? null : (StructType) StructType.fromJson(columns);
    scala.collection.immutable.Map<String, String> how = Folder.scalaMap(options);
    PartitioningAwareFileIndex files = files(spark, Folder.list(paths), how, Option.apply(asked));
    FileFormat reader = Folder.reader(spark, format);
    StructType ofFolders = files.partitionSchema();
    StructType ofFiles = asked == null ? inferred(reader, spark, how, files, paths) : without(asked, ofFolders);
    HadoopFsRelation relation = new HadoopFsRelation(files, ofFolders, ofFiles.asNullable(), Option.empty(), reader, how, spark);
    return Dataset$.MODULE$.ofRows(spark, LogicalRelation$.MODULE$.apply(relation, false));
  }

  private static PartitioningAwareFileIndex files(
      SparkSession spark, List<String> named, scala.collection.immutable.Map<String, String> options, Option<StructType> columns)
      throws IOException {
    Configuration conf = spark.sessionState().newHadoopConf();
    List<Path> paths = new ArrayList<>();
    for (String name : named) {
      Path path = new Path(name);
      paths.add(path.getFileSystem(conf).makeQualified(path));
    }
    if (FileStreamSink.hasMetadata(Folder.scalaList(named), conf, spark.sessionState().conf())) {
      Folder.requireSimple(named.get(0));
      return new MetadataLogFileIndex(spark, paths.get(0), options, columns);
    }
    InMemoryFileIndex found =
        new InMemoryFileIndex(
            spark, Folder.scalaList(paths), options, columns, NoopCache$.MODULE$, Option.empty(), Option.empty());
    requireAll(paths, found, conf);
    return found;
  }

  private static void requireAll(List<Path> paths, InMemoryFileIndex found, Configuration conf) throws IOException {
    Set<String> seen = new HashSet<>();
    for (FileStatus file : CollectionConverters.asJava(found.allFiles())) {
      for (Path part = file.getPath(); part != null && seen.add(part.toString()); part = part.getParent()) {}
    }
    for (Path path : paths) {
      FileSystem store = path.getFileSystem(conf);
      if (!seen.contains(path.toString()) && (!store.exists(path) || store.getFileStatus(path).isFile())) {
        throw new FileNotFoundException("the file is not there, or is not read by its name: " + path);
      }
    }
  }

  private static StructType inferred(
      FileFormat reader,
      SparkSession spark,
      scala.collection.immutable.Map<String, String> options,
      PartitioningAwareFileIndex files,
      String paths) {
    Option<StructType> found = reader.inferSchema(spark, options, files.allFiles());
    if (found.isEmpty()) {
      throw new IllegalArgumentException("no schema can be read from " + paths);
    }
    return found.get();
  }

  private static StructType without(StructType columns, StructType others) {
    Set<String> said = new HashSet<>();
    for (StructField field : others.fields()) {
      said.add(field.name().toLowerCase(java.util.Locale.ROOT));
    }
    StructType kept = new StructType();
    for (StructField field : columns.fields()) {
      kept = said.contains(field.name().toLowerCase(java.util.Locale.ROOT)) ? kept : kept.add(field);
    }
    return kept;
  }
}
