package io.streamproof;

import java.io.Closeable;
import java.io.IOException;
import java.io.Serializable;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.mapred.FsInput;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.orc.TypeDescription;
import org.apache.parquet.HadoopReadOptions;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.format.converter.ParquetMetadataConverter;
import org.apache.parquet.hadoop.Footer;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.avro.AvroFileFormat;
import org.apache.spark.sql.avro.SchemaConverters;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat;
import org.apache.spark.sql.execution.datasources.orc.OrcUtils;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.execution.datasources.parquet.ParquetToSparkSchemaConverter;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import scala.Function1;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * Spark's readers of files that say their columns, which also tell what columns these are: a task that opens a file from its beginning
 * reads its schema once more.
 */
final class WatchedFiles {
  private WatchedFiles() {}

  /** The reader with somebody to tell; one of another format as it is. */
  static FileFormat of(FileFormat reader, SeenSchemas seen) {
    if (reader instanceof ParquetFileFormat) {
      return new Parquet(seen);
    }
    if (reader instanceof OrcFileFormat) {
      return new Orc(seen);
    }
    return reader instanceof AvroFileFormat ? new Avro(seen) : reader;
  }

  /** Reads the schema of a file. */
  @FunctionalInterface
  private interface Columns extends Serializable {
    DataType of(Path file, Configuration configuration) throws IOException;
  }

  private static final class Told extends AbstractFunction1<PartitionedFile, Iterator<InternalRow>> implements Serializable {
    private static final long serialVersionUID = 1L;

    private final Function1<PartitionedFile, Iterator<InternalRow>> reader;
    private final Columns columns;
    private final SeenSchemas seen;
    private final SerializableConfiguration configuration;

    Told(Function1<PartitionedFile, Iterator<InternalRow>> reader, Columns columns, SeenSchemas seen, Configuration configuration) {
      this.reader = reader;
      this.columns = columns;
      this.seen = seen;
      this.configuration = new SerializableConfiguration(configuration);
    }

    @Override
    public Iterator<InternalRow> apply(PartitionedFile file) {
      if (file.start() == 0) {
        try {
          seen.add(new String[] {columns.of(file.toPath(), configuration.value()).json(), file.urlEncodedPath()});
        } catch (Exception unreadable) { // Scala throws what it does not declare
          return reader.apply(file); // which stops at the same file, and says so
        }
      }
      return reader.apply(file);
    }
  }

  private static DataType ofParquet(Path file, Configuration configuration) throws IOException {
    ParquetReadOptions columnsAlone =
        HadoopReadOptions.builder(configuration, file).withMetadataFilter(ParquetMetadataConverter.SKIP_ROW_GROUPS).build();
    try (ParquetFileReader reader = ParquetFileReader.open(HadoopInputFile.fromPath(file, configuration), columnsAlone)) {
      Footer footer = new Footer(file, reader.getFooter());
      return ParquetFileFormat.readSchemaFromFooter(footer, new ParquetToSparkSchemaConverter(configuration));
    }
  }

  /** Spark knows no nanoseconds; a job reads them as whole numbers. */
  private static Configuration withNanoseconds(Configuration configuration) {
    Configuration own = new Configuration(configuration);
    own.setBoolean("spark.sql.legacy.parquet.nanosAsLong", true);
    return own;
  }

  private static DataType ofOrc(Path file, Configuration configuration) {
    Option<TypeDescription> found = OrcColumns.of(file, configuration);
    return found.isDefined() ? OrcUtils.toCatalystSchema(found.get()) : new StructType();
  }

  private static DataType ofAvro(Path file, Configuration configuration) throws IOException {
    try (Closeable input = new FsInput(file, configuration);
        DataFileReader<GenericRecord> read = new DataFileReader<>((FsInput) input, new GenericDatumReader<>())) {
      return SchemaConverters.toSqlType(read.getSchema()).dataType();
    }
  }

  private static final class Parquet extends ParquetFileFormat {
    private static final long serialVersionUID = 1L;
    private final transient SeenSchemas seen;

    Parquet(SeenSchemas seen) {
      this.seen = seen;
    }

    @Override
    public Function1<PartitionedFile, Iterator<InternalRow>> buildReaderWithPartitionValues(
        SparkSession spark,
        StructType data,
        StructType partitions,
        StructType required,
        Seq<Filter> filters,
        Map<String, String> options,
        Configuration conf) {
      return new Told(
          super.buildReaderWithPartitionValues(spark, data, partitions, required, filters, options, conf),
          WatchedFiles::ofParquet,
          seen,
          withNanoseconds(conf));
    }
  }

  private static final class Orc extends OrcFileFormat {
    private static final long serialVersionUID = 1L;
    private final transient SeenSchemas seen;

    Orc(SeenSchemas seen) {
      this.seen = seen;
    }

    @Override
    public Function1<PartitionedFile, Iterator<InternalRow>> buildReaderWithPartitionValues(
        SparkSession spark,
        StructType data,
        StructType partitions,
        StructType required,
        Seq<Filter> filters,
        Map<String, String> options,
        Configuration conf) {
      return new Told(
          super.buildReaderWithPartitionValues(spark, data, partitions, required, filters, options, conf), WatchedFiles::ofOrc, seen, conf);
    }
  }

  private static final class Avro extends AvroFileFormat {
    private static final long serialVersionUID = 1L;
    private final transient SeenSchemas seen;

    Avro(SeenSchemas seen) {
      this.seen = seen;
    }

    @Override
    public Function1<PartitionedFile, Iterator<InternalRow>> buildReaderWithPartitionValues(
        SparkSession spark,
        StructType data,
        StructType partitions,
        StructType required,
        Seq<Filter> filters,
        Map<String, String> options,
        Configuration conf) {
      return new Told(
          super.buildReaderWithPartitionValues(spark, data, partitions, required, filters, options, conf),
          WatchedFiles::ofAvro,
          seen,
          conf);
    }
  }
}
