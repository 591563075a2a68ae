package io.streamproof;

import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.spark.sql.execution.datasources.CodecStreams;
import org.apache.spark.sql.execution.datasources.OutputWriter;
import org.apache.spark.sql.execution.datasources.OutputWriterFactory;
import org.apache.spark.sql.types.StructType;

/** Makes the writers of a job that writes CSV. */
final class CsvWriterFactory extends OutputWriterFactory {
  private static final long serialVersionUID = 1L;

  @Override
  public String getFileExtension(TaskAttemptContext context) {
    return ".csv" + CodecStreams.getCompressionExtension(context);
  }

  @Override
  public OutputWriter newInstance(String path, StructType columns, TaskAttemptContext context) {
    return new CsvWriter(path, columns, CodecStreams.createOutputStream(context, new Path(path)));
  }
}
