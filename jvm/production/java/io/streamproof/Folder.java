package io.streamproof;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.DataSource;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.InMemoryFileIndex;
import org.apache.spark.sql.execution.datasources.LogicalRelation$;
import org.apache.spark.sql.execution.datasources.NoopCache$;
import org.apache.spark.sql.execution.datasources.PartitionPath;
import org.apache.spark.sql.execution.datasources.PartitionSpec;
import org.apache.spark.sql.execution.datasources.v2.FileDataSourceV2;
import org.apache.spark.sql.execution.streaming.runtime.MetadataLogFileIndex;
import org.apache.spark.sql.execution.streaming.sinks.FileStreamSink;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;
import scala.Some;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A folder of files, and the rows of some of them: each file once, whatever its name, with what the folders of its path say.
 *
 * <p>A folder {@code date=2026-03-02} gives its files a value for the column {@code date}, as text and as it stands there. It is a column
 * of its own ({@link #FROM_PATH} and the name) after those of the file; null of a file that lies in no such folder.
 *
 * <p>Options: {@code path}, with a backslash before each character that is no pattern; {@code streamproofFormat}, the reader of a file;
 * {@code streamproofColumns}, a list of the columns that a folder may name; {@code streamproofPath}, the path as it is configured; all
 * others are the reader's.
 */
public final class Folder {
  static final String FROM_PATH = "_path.";
  private static final String PATH = "path";
  private static final String FORMAT = "streamproofFormat";
  private static final String COLUMNS = "streamproofColumns";
  private static final String WRITTEN = "streamproofPath";
  private static final String RECURSIVE = "recursiveFileLookup";

  private final SparkSession spark;
  private final java.util.Map<String, String> options;
  private final StructType columns;
  private final List<String> ofPaths = new ArrayList<>();
  private final FolderNames names;

  Folder(SparkSession spark, Map<String, String> options, StructType columns) {
    this.spark = spark;
    Map<String, String> written = options instanceof CaseInsensitiveMap<String> map ? map.originalMap() : options;
    this.options = new HashMap<>(CollectionConverters.asJava(written));
    this.columns = columns;
    for (StructField field : columns.fields()) {
      if (field.name().startsWith(FROM_PATH)) {
        ofPaths.add(field.name().substring(FROM_PATH.length()));
      }
    }
    names = new FolderNames(path(), spark.sessionState().conf().caseSensitiveAnalysis());
  }

  String path() {
    return options.get(PATH);
  }

  String format() {
    return options.get(FORMAT);
  }

  StructType columns() {
    return columns;
  }

  /** The options by which Spark lists the folder: at every depth, and only below folders that name a column. */
  Map<String, String> listing() {
    java.util.Map<String, String> found = new HashMap<>(options);
    found.put(RECURSIVE, "true");
    found.putAll(FolderFilter.options(path(), options.get(WRITTEN)));
    return scalaMap(found);
  }

  /** The rows of all files that the folder holds now. */
  Dataset<Row> all() {
    return rows(listed().stream().map(FileStatus::getPath).toList(), false);
  }

  private Collection<FileStatus> listed() {
    Configuration conf = spark.sessionState().newHadoopConf();
    Seq<String> paths = scalaList(List.of(path()));
    if (FileStreamSink.hasMetadata(paths, conf, spark.sessionState().conf())) { // Spark's own sink says which of its files count
      return CollectionConverters.asJava(
          new MetadataLogFileIndex(spark, new Path(path()), scalaMap(java.util.Map.of()), Option.empty()).allFiles());
    }
    Seq<Path> roots = SparkHadoopUtil.get().globPathIfNecessary(qualified(conf));
    requireNames();
    return CollectionConverters.asJava(
        new InMemoryFileIndex(spark, roots, listing(), new Some<>(new StructType()), NoopCache$.MODULE$, Option.empty(), Option.empty())
            .allFiles());
  }

  /** Stops at a name that Java cannot read, where the file system does not. */
  void requireNames() {
    Configuration conf = spark.sessionState().newHadoopConf();
    try {
      Path path = qualified(conf);
      FileSystem files = path.getFileSystem(conf);
      if (LocalNames.areUnwatched(files)) {
        LocalNames.requireBelow(files, CollectionConverters.asJava(SparkHadoopUtil.get().globPathIfNecessary(path)));
      }
    } catch (IOException problem) {
      throw new java.io.UncheckedIOException(problem);
    }
  }

  /** Stops where a log of Spark's own sink has come into a folder since the start: its name is escaped, so Spark does not look for it. */
  void requireSameLog() {
    String plain = path().replaceAll("\\\\(.)", "$1");
    if (!plain.equals(path()) && hasLog(spark, plain)) {
      requireSimple(plain);
    }
  }

  /** Stops at a folder of Spark's own sink whose name looks like a pattern: Spark finds no file that the sink's log names. */
  static void requireSimple(String folder) {
    if (folder.matches("(?s).*[{}\\[\\]*?\\\\].*")) {
      throw new IllegalStateException("streamproof-sink-log: " + folder);
    }
  }

  private static boolean hasLog(SparkSession spark, String path) {
    return FileStreamSink.hasMetadata(scalaList(List.of(path)), spark.sessionState().newHadoopConf(), spark.sessionState().conf());
  }

  private Path qualified(Configuration conf) {
    Path path = new Path(path());
    try {
      return path.getFileSystem(conf).makeQualified(path);
    } catch (IOException problem) {
      throw new java.io.UncheckedIOException(problem);
    }
  }

  /** The rows of these files, each read once. */
  Dataset<Row> rows(Collection<Path> files, boolean isStreaming) {
    StructType ofFiles = new StructType();
    StructType ofFolders = new StructType();
    for (StructField field : columns.fields()) {
      if (field.name().startsWith(FROM_PATH)) {
        ofFolders = ofFolders.add(field);
      } else {
        ofFiles = ofFiles.add(field);
      }
    }
    java.util.Map<String, String> inner = new HashMap<>(options);
    inner.remove(PATH);
    InMemoryFileIndex index =
        new InMemoryFileIndex(
            spark,
            scalaList(new ArrayList<>(files)),
            scalaMap(inner),
            new Some<>(ofFiles),
            NoopCache$.MODULE$,
            new Some<>(new PartitionSpec(ofFolders, scalaList(folders(files)))),
            Option.empty());
    requireSame(files, index);
    FileFormat reader = WatchedFiles.of(reader(spark, format()), seen(spark, options.get(WRITTEN)));
    HadoopFsRelation relation =
        new HadoopFsRelation(index, ofFolders, ofFiles.asNullable(), Option.empty(), reader, scalaMap(inner), spark);
    return Dataset$.MODULE$.ofRows(spark, LogicalRelation$.MODULE$.apply(relation, isStreaming));
  }

  /** Stops where Spark would read another set of files than the one that is asked for; what is missing is said elsewhere, by name. */
  private static void requireSame(Collection<Path> files, InMemoryFileIndex index) {
    Set<String> asked = new HashSet<>();
    files.forEach(file -> asked.add(file.toString()));
    Set<String> seen = new HashSet<>();
    for (FileStatus file : CollectionConverters.asJava(index.allFiles())) {
      String name = file.getPath().toString();
      if (!seen.add(name) || !asked.contains(name)) {
        throw new IllegalStateException("streamproof-files: " + name);
      }
    }
  }

  /** Spark's reader of a format. */
  static FileFormat reader(SparkSession spark, String format) {
    try {
      Object found = DataSource.lookupDataSource(format, spark.sessionState().conf()).getDeclaredConstructor().newInstance();
      Object reader = found instanceof FileDataSourceV2 newer ? newer.fallbackFileFormat().getDeclaredConstructor().newInstance() : found;
      return (FileFormat) reader;
    } catch (ReflectiveOperationException problem) {
      throw new IllegalStateException("no reader of files: " + format, problem);
    }
  }

  private List<PartitionPath> folders(Collection<Path> files) {
    Set<String> mayBeNamed = null;
    java.util.Map<Path, PartitionPath> found = new LinkedHashMap<>();
    for (Path file : files) {
      Path folder = file.getParent();
      if (found.containsKey(folder)) {
        continue;
      }
      java.util.Map<String, String> said = names.values(folder);
      if (!said.isEmpty()) {
        mayBeNamed = mayBeNamed == null ? new HashSet<>(names.as(list(options.getOrDefault(COLUMNS, "[]")))) : mayBeNamed;
        for (String name : said.keySet()) {
          if (mayBeNamed.contains(name) && !names.as(ofPaths).contains(name)) {
            throw new IllegalStateException("streamproof-folders: " + name + " " + folder);
          }
        }
      }
      Object[] values = new Object[ofPaths.size()];
      for (int place = 0; place < values.length; place++) {
        values[place] = UTF8String.fromString(said.get(names.as(ofPaths.get(place))));
      }
      InternalRow row = new GenericInternalRow(values);
      found.put(folder, new PartitionPath(row, folder));
    }
    return new ArrayList<>(found.values());
  }

  /**
   * The path as a pattern: of a folder that is there under just this name the characters of patterns are ordinary ones. Null where there is
   * no such folder.
   */
  public static String found(org.apache.spark.sql.SparkSession session, String path) throws IOException {
    Path written = new Path(path);
    FileSystem files = written.getFileSystem(((SparkSession) session).sessionState().newHadoopConf());
    LocalNames.requireReadable(files, written);
    if (hasLog((SparkSession) session, path)) {
      requireSimple(path);
      return path;
    }
    if (files.exists(written)) {
      return path.replaceAll("[{}\\[\\]*?\\\\]", "\\\\$0");
    }
    return SparkHadoopUtil.get().isGlobPath(written) ? path : null;
  }

  /** The names that folders below a path give columns, as a list; null of a path where nothing lies yet. Spark lists it once for that. */
  public static List<String> named(org.apache.spark.sql.SparkSession session, String pattern, String written) {
    SparkSession spark = (SparkSession) session;
    Folder folder = new Folder(spark, scalaMap(java.util.Map.of(PATH, pattern, WRITTEN, written)), new StructType());
    Collection<FileStatus> files = folder.listed();
    Set<Path> folders = new HashSet<>();
    files.forEach(file -> folders.add(file.getPath().getParent()));
    Set<String> found = new TreeSet<>();
    folders.forEach(one -> found.addAll(folder.names.values(one).keySet()));
    return files.isEmpty() ? null : new ArrayList<>(found);
  }

  /**
   * What this Spark has met below a configured path, as an object of JSON: {@code leftOut}, the folders whose files were not read, relative
   * to it; {@code schemas}, those of the files that were opened, each with one of these files.
   */
  public static String met(org.apache.spark.sql.SparkSession session, String path) throws JsonProcessingException {
    java.util.Map<String, Object> found = new HashMap<>();
    found.put("leftOut", FolderFilter.leftOut(path));
    found.put("schemas", seen(session, path).value());
    return new ObjectMapper().writeValueAsString(found);
  }

  private static SeenSchemas seen(org.apache.spark.sql.SparkSession session, String path) {
    return SeenSchemas.of(((SparkSession) session).sparkContext(), path);
  }

  /** For a batch query: a folder's rows, as the source gives them to a stream. */
  public static Dataset<Row> rows(org.apache.spark.sql.SparkSession spark, java.util.Map<String, String> options, String columns) {
    return new Folder((SparkSession) spark, scalaMap(options), (StructType) StructType.fromJson(columns)).all();
  }

  /** Of the columns that the path of a file may say those that it says. */
  static Set<String> columnsOfPath(String[] ofPaths, InternalRow values) {
    Set<String> found = new HashSet<>();
    for (int place = 0; place < ofPaths.length; place++) {
      if (ofPaths[place].startsWith(FROM_PATH) && !values.isNullAt(place)) {
        found.add(ofPaths[place].substring(FROM_PATH.length()));
      }
    }
    return found;
  }

  /** A list of texts (JSON). */
  static List<String> list(String json) {
    try {
      return List.of(new ObjectMapper().readValue(json, String[].class));
    } catch (JsonProcessingException problem) {
      throw new IllegalArgumentException(json, problem);
    }
  }

  static Seq<String> none() {
    return scalaList(List.of());
  }

  static <T> Seq<T> scalaList(List<T> from) {
    return CollectionConverters.asScala(from).toList();
  }

  static Map<String, String> scalaMap(java.util.Map<String, String> from) {
    return scala.collection.immutable.Map$.MODULE$.from(CollectionConverters.asScala(from));
  }
}
