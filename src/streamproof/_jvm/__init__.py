"""The bridge to the JVM: the only room that touches py4j."""

from streamproof._jvm.batches import BatchRows, Doors, Dropped, check_doors, doors_of, for_each_batch, listen_to_jvm
from streamproof._jvm.file_systems import answer_file_system_calls
from streamproof._jvm.folders import FROM_PATH, Folder, SeenBelow, folder_at, rows_of_files, seen_below
from streamproof._jvm.java import (
    PROOF_JAR,
    causes_of,
    is_of_spark,
    java_call,
    java_causes,
    java_class,
    plain,
    production_jar,
)
from streamproof._jvm.kafka import KafkaOffsets, KafkaTopic, kafka_offsets, kafka_topics
from streamproof._jvm.liveness import end_jvm, has_ended, is_gone, was_killed_at_start
from streamproof._jvm.plans import (
    accumulator_column,
    aggregates_in_python,
    empty_rows,
    float_steps,
    key_of_deduplication,
    operators_of_stream,
    unfit_for_a_buffer,
)
from streamproof._jvm.records import Refused, avro_record, avro_schema, avro_value, json_record, text_behind_record
from streamproof._jvm.session import default_session, has_class, jars, launch, live_settings, task_slots
from streamproof._jvm.stateful import BeforeState, Key, NotOne, Operator, before_state, operators_of_query
from streamproof._jvm.storage import Numbered, Storage, gone_file, is_own, storage_error, too_many_open_files
from streamproof._jvm.versions import (
    INSTALL,
    SPARK_VERSIONS,
    checks_state_files,
    installed_spark,
    knows_ends_of_windows,
    minor_version,
)
from streamproof._jvm.waiting import WaitingRows, write_rows
from streamproof._jvm.zone_windows import ZoneWindows

__all__ = [
    "FROM_PATH",
    "INSTALL",
    "PROOF_JAR",
    "SPARK_VERSIONS",
    "BatchRows",
    "BeforeState",
    "Doors",
    "Dropped",
    "Folder",
    "KafkaOffsets",
    "KafkaTopic",
    "Key",
    "NotOne",
    "Numbered",
    "Operator",
    "Refused",
    "SeenBelow",
    "Storage",
    "WaitingRows",
    "ZoneWindows",
    "accumulator_column",
    "aggregates_in_python",
    "answer_file_system_calls",
    "avro_record",
    "avro_schema",
    "avro_value",
    "before_state",
    "causes_of",
    "check_doors",
    "checks_state_files",
    "default_session",
    "doors_of",
    "empty_rows",
    "end_jvm",
    "float_steps",
    "folder_at",
    "for_each_batch",
    "gone_file",
    "has_class",
    "has_ended",
    "installed_spark",
    "is_gone",
    "is_of_spark",
    "is_own",
    "jars",
    "java_call",
    "java_causes",
    "java_class",
    "json_record",
    "kafka_offsets",
    "kafka_topics",
    "key_of_deduplication",
    "knows_ends_of_windows",
    "launch",
    "listen_to_jvm",
    "live_settings",
    "minor_version",
    "operators_of_query",
    "operators_of_stream",
    "plain",
    "production_jar",
    "rows_of_files",
    "seen_below",
    "storage_error",
    "task_slots",
    "text_behind_record",
    "too_many_open_files",
    "unfit_for_a_buffer",
    "was_killed_at_start",
    "write_rows",
]
