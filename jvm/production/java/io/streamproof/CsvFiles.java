package io.streamproof;

import java.io.InputStream;
import java.io.Serializable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.CodecStreams;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.OutputWriterFactory;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import scala.Function1;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * Files of CSV, read and written by Spark.
 *
 * <p>Read, there is a row for each record, with its bytes ({@code original}), what it says as an object of JSON ({@code
 * json}), or why it is no record of the columns ({@code problem}).
 *
 * <p>Spark's own reader gives the bytes of a broken record only, decoded, passes over blank lines, closes a quote at the end of a file by
 * itself, and takes the columns of every file in the order that the first one has. A column that a folder of the path says ({@code
 * date=2026-03-02}) need not stand in a file, and is not looked for there. A file is read by one task from its beginning: whether a
 * line end stands in quotes is known only from there.
 *
 * <p>Written, every text is in quotes and nothing else is: a reader can tell "7" from 7, and an empty text from a null. Spark's own writer
 * takes blanks off the ends of texts, and cannot tell the one from the other.
 */
public final class CsvFiles implements FileFormat, Serializable {
  private static final long serialVersionUID = 1L;

  @Override
  public Option<StructType> inferSchema(SparkSession spark, Map<String, String> options, Seq<FileStatus> files) {
    return Option.empty();
  }

  @Override
  public OutputWriterFactory prepareWrite(SparkSession spark, Job job, Map<String, String> options, StructType columns) {
    return new CsvWriterFactory();
  }

  @Override
  public boolean isSplitable(SparkSession spark, Map<String, String> options, Path path) {
    return false;
  }

  @Override
  public Function1<PartitionedFile, Iterator<InternalRow>> buildReader(
      SparkSession spark,
      StructType all,
      StructType partitions,
      StructType wanted,
      Seq<Filter> filters,
      Map<String, String> options,
      Configuration configuration) {
    return new Reader(CsvDialect.of(options), partitions.fieldNames(), wanted.fieldNames(), new SerializableConfiguration(configuration));
  }

  private static final class Reader extends AbstractFunction1<PartitionedFile, Iterator<InternalRow>> implements Serializable {
    private static final long serialVersionUID = 1L;

    private final CsvDialect dialect;
    private final String[] ofPaths;
    private final String[] wanted;
    private final SerializableConfiguration configuration;

    Reader(CsvDialect dialect, String[] ofPaths, String[] wanted, SerializableConfiguration configuration) {
      this.dialect = dialect;
      this.ofPaths = ofPaths;
      this.wanted = wanted;
      this.configuration = configuration;
    }

    @Override
    public Iterator<InternalRow> apply(PartitionedFile file) {
      InputStream input = CodecStreams.createInputStreamWithCloseResource(configuration.value(), file.toPath());
      return new CsvRecords(dialect.without(Folder.columnsOfPath(ofPaths, file.partitionValues())), wanted, input, file.urlEncodedPath());
    }
  }

  @Override
  public String toString() {
    return "CSV";
  }
}
