package io.streamproof.proof;

import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.OutputWriterFactory;
import org.apache.spark.sql.execution.streaming.Source;
import org.apache.spark.sql.execution.streaming.runtime.FileStreamSource;
import org.apache.spark.sql.sources.StreamSourceProvider;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Tuple2;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Spark's own source of files, which takes in each batch as many files as it is told. So a run without a fault reads the same files in
 * the same batches as a recovered one (R24), whose batches are of different sizes.
 *
 * <p>Options: {@code streamproofFormat} is the format of the files; {@code streamproofCut.QUERY.SOURCE} says how many files each batch takes, such
 * as "2,2,6", where the checkpoint is a folder called QUERY. A source without that option takes what there is.
 *
 * <p>It is a {@link FileFormat} for one thing alone: rows of such a source have the column {@code _metadata}.
 */
public final class CutFiles implements StreamSourceProvider, FileFormat {
  private static final String FORMAT = "streamproofFormat";
  private static final String CUT = "streamproofCut";

  @Override
  public Tuple2<String, StructType> sourceSchema(
      SQLContext context, Option<StructType> schema, String provider, Map<String, String> options) {
    return new Tuple2<>("FileSource[" + options.apply("path") + "]", schema.get());
  }

  @Override
  public Source createSource(
      SQLContext context, String metadataPath, Option<StructType> schema, String provider, Map<String, String> options) {
    Path source = new Path(metadataPath); // .../QUERY/sources/0
    String query = source.getParent().getParent().getName();
    Option<String> cut = options.get(CUT + "." + query + "." + source.getName());
    return new CutSource(
        (org.apache.spark.sql.classic.SparkSession) context.sparkSession(),
        options,
        schema.get(),
        metadataPath,
        cut.isDefined() ? cut.get().split(",") : null);
  }

  @Override
  public Option<StructType> inferSchema(SparkSession session, Map<String, String> options, Seq<FileStatus> files) {
    return Option.empty();
  }

  @Override
  public OutputWriterFactory prepareWrite(SparkSession session, Job job, Map<String, String> options, StructType schema) {
    throw new UnsupportedOperationException("it only reads streams");
  }

  private static final class CutSource extends FileStreamSource {
    private final String[] cut;
    private int asked;

    CutSource(
        org.apache.spark.sql.classic.SparkSession session,
        Map<String, String> options,
        StructType schema,
        String metadataPath,
        String[] cut) {
      super(
          session,
          options.apply("path"),
          options.apply(FORMAT),
          schema,
          CollectionConverters.asScala(java.util.List.<String>of()).toList(),
          metadataPath,
          options);
      this.cut = cut;
    }

    /** Spark asks once for each batch that it plans, and once more to learn that there is nothing left. */
    @Override
    public Offset latestOffset(Offset start, ReadLimit limit) {
      if (cut == null) {
        return super.latestOffset(start, limit);
      }
      int files = asked < cut.length ? Integer.parseInt(cut[asked]) : 0;
      asked++;
      return super.latestOffset(start, ReadLimit.maxFiles(files));
    }
  }
}
