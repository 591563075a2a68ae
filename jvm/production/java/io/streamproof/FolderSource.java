package io.streamproof;

import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.execution.streaming.Offset;
import org.apache.spark.sql.execution.streaming.Source;
import org.apache.spark.sql.execution.streaming.runtime.FileStreamSource;
import org.apache.spark.sql.execution.streaming.runtime.FileStreamSource.FileEntry;
import org.apache.spark.sql.execution.streaming.runtime.FileStreamSourceLog;
import org.apache.spark.sql.execution.streaming.runtime.FileStreamSourceLog$;
import org.apache.spark.sql.execution.streaming.runtime.FileStreamSourceOffset$;
import org.apache.spark.sql.sources.StreamSourceProvider;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Some;
import scala.Tuple2;
import scala.collection.immutable.Map;

/**
 * Spark's own source of files, whose batches are exactly the files that its log names.
 *
 * <p>Spark looks a batch's files up by their paths once more, and takes a path with one of {@code {}[]*?\} for a pattern: every other file
 * of the batch is then read once more for each such path. And it looks for partition columns in the files of each batch anew, so that a
 * folder that was empty at the start, or has files of two layouts, gives its columns another order. What is listed, remembered and written
 * to the log stays Spark's; {@link Folder} makes the rows.
 */
public final class FolderSource implements StreamSourceProvider {
  @Override
  public Tuple2<String, StructType> sourceSchema(
      SQLContext context, Option<StructType> schema, String provider, Map<String, String> options) {
    return new Tuple2<>("FileSource[" + options.apply("path") + "]", schema.get());
  }

  @Override
  public Source createSource(
      SQLContext context, String metadataPath, Option<StructType> schema, String provider, Map<String, String> options) {
    SparkSession spark = (SparkSession) context.sparkSession();
    Option<String> intake = options.get(Intake.OPTION);
    return new Files(
        spark, new Folder(spark, options, schema.get()), metadataPath, Intake.of(intake.isDefined() ? intake.get() : null));
  }

  private static final class Files extends FileStreamSource {
    private final Folder folder;
    private final FileStreamSourceLog log;
    private final Intake intake;

    Files(SparkSession spark, Folder folder, String metadataPath, Intake intake) {
      super(spark, folder.path(), folder.format(), folder.columns(), Folder.none(), metadataPath, folder.listing());
      this.folder = folder;
      this.intake = intake;
      log = new FileStreamSourceLog(FileStreamSourceLog$.MODULE$.VERSION(), spark, metadataPath);
    }

    @Override
    public org.apache.spark.sql.connector.read.streaming.Offset latestOffset(
        org.apache.spark.sql.connector.read.streaming.Offset start, ReadLimit limit) {
      folder.requireNames();
      folder.requireSameLog();
      return super.latestOffset(start, intake == null ? limit : ReadLimit.maxFiles(Math.toIntExact(intake.ask())));
    }

    @Override
    public Dataset<Row> getBatch(Option<Offset> start, Offset end) {
      long first = start.isDefined() ? FileStreamSourceOffset$.MODULE$.apply(start.get()).logOffset() + 1 : 0;
      long last = FileStreamSourceOffset$.MODULE$.apply(end).logOffset();
      Set<Path> named = new LinkedHashSet<>();
      for (Tuple2<Object, FileEntry[]> entry : log.get(new Some<>(first), new Some<>(last))) {
        for (FileEntry file : entry._2()) {
          named.add(file.sparkPath().toPath());
        }
      }
      return folder.rows(named, true);
    }
  }
}
