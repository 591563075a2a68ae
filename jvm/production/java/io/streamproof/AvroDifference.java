package io.streamproof;

import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;
import org.apache.avro.SchemaCompatibility.Incompatibility;
import org.apache.avro.SchemaCompatibility.SchemaIncompatibilityType;

/** One thing that keeps a reader's schema from reading what a writer's has written: the field, with dots, and why. Knows no Spark. */
record AvroDifference(String field, String reason, boolean isAboutNames) {
  static List<AvroDifference> between(Schema reader, Schema writer) {
    return SchemaCompatibility.checkReaderWriterCompatibility(reader, writer).getResult().getIncompatibilities().stream()
        .map(each -> new AvroDifference(path(reader, each.getLocation()), reason(each), isAboutNames(each)))
        .toList();
  }

  /** A schema that refers to others, each of which may refer to those before it. */
  static Schema parsed(List<String> references, String text) {
    Schema.Parser parser = new Schema.Parser();
    references.forEach(parser::parse);
    return parser.parse(text);
  }

  private static boolean isAboutNames(Incompatibility found) {
    return found.getType() == SchemaIncompatibilityType.NAME_MISMATCH;
  }

  private static String reason(Incompatibility found) {
    String said = found.getMessage();
    return switch (found.getType()) {
      case READER_FIELD_MISSING_DEFAULT_VALUE -> "the writer does not have it, and the reader has no default";
      case MISSING_UNION_BRANCH -> said.replace("reader union lacking writer type: ", "the reader does not take what the writer has, ");
      case TYPE_MISMATCH -> said.replace("reader type: ", "the reader has ").replace(" not compatible with writer type: ", ", the writer ");
      case NAME_MISMATCH -> "another name: " + said;
      case MISSING_ENUM_SYMBOLS -> "the reader does not have the symbols " + said;
      case FIXED_SIZE_MISMATCH -> "another size: " + said;
    };
  }

  /** The path of a field, with dots, from a place in a schema such as "/fields/1/type/fields/0". */
  private static String path(Schema schema, String location) {
    StringBuilder path = new StringBuilder();
    Schema at = schema;
    String[] parts = location.split("/");
    for (int part = 1; part < parts.length; part++) {
      if (at.getType() == Schema.Type.UNION && parts[part].matches("\\d+")) {
        at = at.getTypes().get(Integer.parseInt(parts[part]));
      } else if (parts[part].equals("fields") && part + 1 < parts.length && at.getType() == Schema.Type.RECORD) {
        Schema.Field field = at.getFields().get(Integer.parseInt(parts[++part]));
        path.append(path.length() == 0 ? "" : ".").append(field.name());
        at = field.schema();
      } else if (parts[part].equals("items") && at.getType() == Schema.Type.ARRAY) {
        at = at.getElementType();
      } else if (parts[part].equals("values") && at.getType() == Schema.Type.MAP) {
        at = at.getValueType();
      }
    }
    return path.toString();
  }

  @Override
  public String toString() {
    return (field.isEmpty() ? "" : field + ": ") + reason;
  }
}
