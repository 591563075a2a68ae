package io.streamproof;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF2;
import org.apache.spark.sql.catalyst.CatalystTypeConverters;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.SimpleAnalyzer$;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Predicate;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions$;
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.expressions.UserDefinedFunction;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The rules that hold for a row, and those that fail on it, by their names: conditions in SQL that come with a version of a table.
 *
 * <p>The plan of a query is made once, and rules change with every batch: so a condition is data, and each task compiles those that it meets.
 * A rule that fails, as one that divides by zero, holds for no row that it fails on; the batch goes on.
 */
public final class RulesHolding implements UDF2<Row, scala.collection.Seq<Row>, Row> {
  private static final int MOST = 10_000;

  /** Literals that the parser turns into the instant at which it reads them. */
  private static final Pattern OF_THE_CLOCK =
      Pattern.compile("\\b(?:date|timestamp(?:_ltz|_ntz)?)\\s*['\"]\\s*(?:now|today|yesterday|tomorrow)\\b", Pattern.CASE_INSENSITIVE);

  private static final Map<String, Filter> ANALYSED = new ConcurrentHashMap<>();

  private final StructType columns;

  private transient Map<String, BasePredicate> compiled;
  private transient Function1<Object, Object> converter;

  private RulesHolding(StructType columns) {
    this.columns = columns;
  }

  /** The function of a row (struct) and the rules (array of a name and a condition); it gives two lists of names. */
  public static UserDefinedFunction function(String columns) {
    DataType names = DataTypes.createArrayType(DataTypes.StringType, false);
    StructType given = new StructType().add("holds", names, false).add("fails", names, false);
    return functions.udf(new RulesHolding((StructType) DataType.fromJson(columns)), given).asNondeterministic().withName("rules_holding");
  }

  /** Why each condition is none over these columns, a text for each; empty where it is one. */
  public static List<String> problems(SparkSession spark, String columns, List<String> conditions) {
    StructType over = (StructType) DataType.fromJson(columns);
    List<String> found = new ArrayList<>();
    for (String condition : conditions) {
      try {
        compiled(over, condition);
        found.add("");
      } catch (Exception | StackOverflowError problem) {
        String said = problem.getMessage();
        found.add(said == null ? problem.getClass().getSimpleName() : said);
      }
    }
    return found;
  }

  @Override
  public Row call(Row row, scala.collection.Seq<Row> rules) {
    if (compiled == null) {
      compiled = new HashMap<>();
      converter = CatalystTypeConverters.createToCatalystConverter(columns);
    }
    InternalRow internal = (InternalRow) converter.apply(row);
    List<String> holds = new ArrayList<>();
    List<String> fails = new ArrayList<>();
    for (Row rule : CollectionConverters.asJava(rules)) {
      String name = rule.getString(0);
      try {
        if (compiled.computeIfAbsent(rule.getString(1), condition -> compiled(columns, condition)).eval(internal)) {
          holds.add(name);
        }
      } catch (Exception | StackOverflowError problem) { // Spark raises checked ones too, and a deep regular expression ends the stack
        fails.add(name);
      }
    }
    holds.sort(null);
    fails.sort(null);
    return RowFactory.create(holds.toArray(new String[0]), fails.toArray(new String[0]));
  }

  private static BasePredicate compiled(StructType columns, String condition) {
    if (ANALYSED.size() > MOST) {
      ANALYSED.clear();
    }
    Filter filter = ANALYSED.computeIfAbsent(columns.json() + "\n" + condition, key -> analysed(columns, condition));
    BasePredicate predicate = Predicate.create(filter.condition(), filter.child().output());
    predicate.initialize(0);
    return predicate;
  }

  private static Filter analysed(StructType columns, String condition) {
    Expression parsed = CatalystSqlParser$.MODULE$.parseExpression(condition);
    LogicalPlan analysed = SimpleAnalyzer$.MODULE$.execute(new Filter(parsed, LocalRelation$.MODULE$.apply(columns)));
    SimpleAnalyzer$.MODULE$.checkAnalysis(analysed);
    Filter filter = (Filter) ReplaceExpressions$.MODULE$.apply(analysed);
    Expression whole = filter.condition();
    if (!whole.deterministic() || whole.exists(RulesHolding::asksElsewhere) || asksTheClock(condition, whole)) {
      throw new IllegalArgumentException("it is no condition over the columns of a row that gives the same whenever it is asked");
    }
    return filter;
  }

  private static Object asksElsewhere(Object expression) {
    return expression instanceof SubqueryExpression || expression instanceof PythonUDF;
  }

  /** Whether it asks what time, user or catalogue it is now: to Spark that is the same within a query, and a query lives for months. */
  private static boolean asksTheClock(String condition, Expression whole) {
    return whole.containsPattern(TreePattern.CURRENT_LIKE()) || OF_THE_CLOCK.matcher(condition).find();
  }
}
