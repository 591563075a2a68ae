package io.streamproof;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.catalyst.expressions.aggregate.*;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.IntegralType;
import org.apache.spark.sql.types.ShortType;
import scala.collection.Iterable;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Which columns of an aggregation depend on the order in which floats were added, and by how much they may differ for it.
 *
 * <p>A sum of doubles differs in its last digits from one run to the next. Whatever is computed of it continuously does so too. What
 * rounds it may come out one step apart: 23.281488 beside 23.281487. What asks it a question may come out otherwise altogether, and so may
 * what a sketch keeps of many values.
 */
public final class FloatOrder {
  /** It differs in the last digits only. */
  private static final double DIGITS = 0;

  /** It can be any other value. */
  private static final double ANYTHING = Double.POSITIVE_INFINITY;

  /** Functions whose result depends on the order in which rows and parts arrive; by name, since a Spark may not have them. */
  private static final List<String> SKETCHES = List.of("ApproximatePercentile", "ApproxTopK", "Kll", "HistogramNumeric");

  /** Nothing of it depends on the order. */
  private static final Double NOTHING = null;

  private final Map<Long, Double> known = new HashMap<>();

  private FloatOrder() {}

  /**
   * By column, for those that depend on the order: 0 where only the last digits differ, the step of its rounding, or infinity where two
   * values cannot be compared. A function that Spark does not know from within counts as continuous if it gives a float.
   */
  public static Map<String, Double> steps(Dataset<?> rows) {
    FloatOrder found = new FloatOrder();
    LogicalPlan plan = rows.queryExecution().analyzed();
    found.learn(plan);
    Map<String, Double> steps = new LinkedHashMap<>();
    for (Attribute column : each(plan.output())) {
      Double step = found.known.get(column.exprId().id());
      if (step != NOTHING) {
        steps.put(column.name(), step);
      }
    }
    return steps;
  }

  private void learn(LogicalPlan plan) {
    for (LogicalPlan below : each(plan.children())) {
      learn(below);
    }
    if (plan instanceof Aggregate) {
      learn(((Aggregate) plan).aggregateExpressions());
    } else if (plan instanceof Project) {
      learn(((Project) plan).projectList());
    }
  }

  private void learn(scala.collection.Seq<NamedExpression> columns) {
    for (NamedExpression column : each(columns)) {
      known.put(column.exprId().id(), of((Expression) column));
    }
  }

  private Double of(Expression expression) {
    if (expression instanceof AttributeReference) {
      return known.get(((AttributeReference) expression).exprId().id());
    }
    if (expression instanceof AggregateExpression) {
      AggregateFunction function = ((AggregateExpression) expression).aggregateFunction();
      return function instanceof Accumulator ? ofDeclared((Accumulator) function) : ofAggregate(function);
    }
    if (expression instanceof RuntimeReplaceable) {
      return of(((RuntimeReplaceable) expression).replacement());
    }
    Double worst = NOTHING;
    for (Expression below : each(expression.children())) {
      worst = worse(worst, of(below));
    }
    boolean aboutNull = expression instanceof IsNull || expression instanceof IsNotNull || expression instanceof IsNaN;
    return worst == NOTHING || aboutNull ? NOTHING : made(expression, worst);
  }

  /** Sums and means of floats; of whole numbers of at most 32 bits the sum is exact as long as there are fewer than four million. */
  private Double ofAggregate(AggregateFunction function) {
    if (SKETCHES.stream().anyMatch(name -> function.getClass().getSimpleName().startsWith(name))) {
      return ANYTHING;
    }
    Double of = NOTHING;
    for (Expression below : each(((Expression) function).children())) {
      of = worse(of, of(below));
    }
    if (of != NOTHING && !(function instanceof Count)) { // of rows of another aggregation
      boolean takes = function instanceof Min || function instanceof Max;
      boolean adds = function instanceof Sum || function instanceof Average;
      return takes ? of : adds && of == DIGITS ? Double.valueOf(DIGITS) : ANYTHING;
    }
    boolean chooses =
        function instanceof Min || function instanceof Max || function instanceof First || function instanceof Last
            || function instanceof MinBy || function instanceof MaxBy || function instanceof Mode;
    if (chooses || !isFloat(function.dataType())) {
      return NOTHING;
    }
    if (function instanceof Average) {
      DataType summed = ((Average) function).child().dataType();
      boolean small = summed instanceof IntegerType || summed instanceof ShortType || summed instanceof ByteType;
      return small ? NOTHING : Double.valueOf(DIGITS);
    }
    return DIGITS;
  }

  /** Of a declared accumulator the floats of its buffer, and what its result makes of them. */
  private Double ofDeclared(Accumulator accumulator) {
    for (AttributeReference field : each(accumulator.aggBufferAttributes())) {
      known.put(field.exprId().id(), isFloat(field.dataType()) ? Double.valueOf(DIGITS) : NOTHING);
    }
    return of(accumulator.evaluateExpression());
  }

  /** What becomes of a value that may be `step` off. */
  private Double made(Expression by, double step) {
    if (by instanceof Alias || by instanceof UnaryMinus || by instanceof UnaryPositive || by instanceof Abs
        || by instanceof KnownNotNull || by instanceof Coalesce || by instanceof Greatest || by instanceof Least
        || by instanceof NaNvl) {
      return step;
    }
    if (by instanceof RoundBase) {
      Object digits = constant(((BinaryExpression) by).right());
      return digits instanceof Number ? Math.max(step, Math.pow(10, -((Number) digits).doubleValue())) : ANYTHING;
    }
    if (by instanceof Floor || by instanceof Ceil || by instanceof Rint) {
      return Math.max(step, 1);
    }
    if (by instanceof Cast) {
      return cast(by.dataType(), step);
    }
    if (by instanceof Add || by instanceof Subtract) {
      return orNothing(of(((BinaryExpression) by).left())) + orNothing(of(((BinaryExpression) by).right()));
    }
    if (by instanceof Multiply || by instanceof Divide) {
      return scaled((BinaryExpression) by, step);
    }
    if (by instanceof If || by instanceof CaseWhen) {
      return branches(by);
    }
    boolean asks = by instanceof Predicate || by instanceof DivModLike || by instanceof Signum;
    return asks || step > 0 || !isFloat(by.dataType()) ? ANYTHING : DIGITS;
  }

  private static Double cast(DataType to, double step) {
    if (isFloat(to)) {
      return step;
    }
    if (to instanceof IntegralType) {
      return Math.max(step, 1);
    }
    return to instanceof DecimalType ? Math.max(step, Math.pow(10, -((DecimalType) to).scale())) : ANYTHING;
  }

  /** By a constant the step grows or shrinks; by anything else nobody knows how far. */
  private Double scaled(BinaryExpression product, double step) {
    if (step == DIGITS) {
      return DIGITS;
    }
    Double right = number(product.right());
    Double left = product instanceof Multiply ? number(product.left()) : null;
    if (right == null && left == null) {
      return ANYTHING;
    }
    double factor = Math.abs(right != null ? right : left);
    return product instanceof Multiply ? step * factor : step / factor;
  }

  /** Which branch is taken may not depend on the order; then it is that of the worst. */
  private Double branches(Expression choice) {
    Double worst = NOTHING;
    for (Expression below : each(choice.children())) {
      Double found = of(below);
      if (below instanceof Predicate && found != NOTHING) {
        return ANYTHING;
      }
      worst = worse(worst, found);
    }
    return worst;
  }

  private static Double number(Expression expression) {
    Object value = constant(expression);
    if (value instanceof Decimal) {
      return ((Decimal) value).toDouble();
    }
    return value instanceof Number ? Double.valueOf(((Number) value).doubleValue()) : null;
  }

  private static Object constant(Expression expression) {
    return expression.foldable() ? expression.eval(null) : null;
  }

  private static double orNothing(Double step) {
    return step == NOTHING ? 0 : step;
  }

  private static Double worse(Double one, Double other) {
    if (one == NOTHING || other == NOTHING) {
      return one == NOTHING ? other : one;
    }
    return Math.max(one, other);
  }

  private static boolean isFloat(DataType type) {
    return type instanceof DoubleType || type instanceof FloatType;
  }

  private static <T> java.lang.Iterable<T> each(Iterable<T> found) {
    return CollectionConverters.asJava(found);
  }
}
