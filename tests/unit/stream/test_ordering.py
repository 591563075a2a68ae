"""Which columns put rows in order: the same for each operator that goes by one."""

from types import SimpleNamespace

import pytest
from pyspark.sql import types as T

from streamproof.errors import JobDefinitionError
from streamproof.stream.operators.ordering import require_order

NUMBERS = (T.ByteType(), T.ShortType(), T.IntegerType(), T.LongType(), T.FloatType(), T.DoubleType(), T.DecimalType(20, 4))
OTHERS = (T.StringType(), T.CharType(3), T.VarcharType(3), T.DateType(), T.TimestampType(), T.TimestampNTZType(), T.BooleanType())
NONE = (
    T.BinaryType(),
    T.ArrayType(T.LongType()),
    T.StructType(),
    T.VariantType(),
    T.StringType("UTF8_LCASE"),
    T.DayTimeIntervalType(),
)


def rows_of(type_):
    return SimpleNamespace(schema=T.StructType().add("v", type_))


@pytest.mark.parametrize("type_", [*NUMBERS, *OTHERS], ids=str)
def test_what_the_reference_lists_has_an_order(type_):
    require_order(rows_of(type_), "latest", "v")


@pytest.mark.parametrize("type_", NONE, ids=str)
def test_what_has_none_or_one_that_no_model_knows_is_refused(type_):
    with pytest.raises(JobDefinitionError) as refused:
        require_order(rows_of(type_), "deduplicate", "v")

    assert refused.value.message == f"deduplicate(order_by='v'): the column is {type_.simpleString()}."
