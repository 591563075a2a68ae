package io.streamproof;

import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** The files that Spark reads next: one plan serves all batches, and is told them before each. Nothing is listed, the manifests know the sizes. */
final class WaitingFiles implements FileIndex {
  private volatile List<FileStatus> files = List.of();

  /** By path the size in bytes. */
  void are(Map<String, Long> sizes) {
    files = sizes.entrySet().stream().map(file -> new FileStatus(file.getValue(), false, 1, 0, 0, new Path(file.getKey()))).toList();
  }

  @Override
  public Seq<PartitionDirectory> listFiles(Seq<Expression> ofPartitions, Seq<Expression> ofRows) {
    PartitionDirectory all = PartitionDirectory.apply(InternalRow.empty(), files.toArray(new FileStatus[0]));
    return CollectionConverters.asScala(List.of(all)).toSeq();
  }

  @Override
  public Seq<Path> rootPaths() {
    return CollectionConverters.asScala(files.stream().map(FileStatus::getPath).toList()).toSeq();
  }

  @Override
  public String[] inputFiles() {
    return files.stream().map(file -> file.getPath().toString()).toArray(String[]::new);
  }

  @Override
  public void refresh() {}

  @Override
  public long sizeInBytes() {
    return files.stream().mapToLong(FileStatus::getLen).sum();
  }

  @Override
  public StructType partitionSchema() {
    return new StructType();
  }
}
