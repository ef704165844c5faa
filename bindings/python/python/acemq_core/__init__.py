"""What a RabbitMQ topology means, computed the same way for every language.

The engine knows the argument table that each queue must be declared with, whether a broker of a given version accepts it,
what differs from what is there, and what a change would do. It never talks to a broker: it asks numbered questions and takes
answers, so that a program drives it through the AMQP client that it has.

Durations are `datetime.timedelta`. Whatever the engine refuses is an `Error` with a stable ``code``.
"""

from __future__ import annotations

from .declarations import (
    BindingDeclaration,
    Declaration,
    Difference,
    Equivalence,
    ExchangeDeclaration,
    PolicyDeclaration,
    PredictedRefusal,
    Prediction,
    QueueDeclaration,
    canonical,
    compare_queues,
    fingerprint,
    predict,
)
from .embedded import BrokerRefusal, Channel, Connection, EmbeddedBroker, Permissions, simulate
from .errors import Error, Problem
from .findings import Audit, Finding, audit, audit_baseline, audit_sarif, draw, explain_finding
from .messages import (
    Cancelled,
    Delivery,
    Happening,
    Properties,
    Published,
    QueueContents,
    QueueStatus,
    StoredMessage,
)
from .migration import Migration, MigrationOrder, MigrationPlan, QueueSight, plan_migration
from .names import (
    CheckedName,
    ImpliedNames,
    check_name,
    dead_letter_queue,
    delay_text,
    implied_names,
    milliseconds,
    milliseconds_from_nanoseconds,
    milliseconds_from_seconds,
    parked_queue,
    parse_duration,
    retry_queue,
)
from .operations import abi_version, call, operations, spec_version, version
from .plan import Action, Answer, Plan, PlanSession, Question
from .refusal import Refusal, RefusalValue, read_refusal
from .retry import Decision, Ladder, RetryPolicy, Rung, Schedule
from .routing import Route, Router
from .state import (
    Definitions,
    DefinitionsSummary,
    EffectiveSetting,
    EffectiveSettings,
    ImportEffect,
    State,
    WrittenTopology,
)
from .topic import TopicMatcher, TopicPattern, topic_matches
from .topology import (
    BindingTable,
    ExchangeTable,
    QueueTable,
    Tables,
    Topology,
    TopologyBuilder,
    TopologyProblem,
    consumer_declarations,
)

__version__ = version()

__all__ = [
    "Action",
    "Answer",
    "Audit",
    "BindingDeclaration",
    "BindingTable",
    "BrokerRefusal",
    "Cancelled",
    "Channel",
    "CheckedName",
    "Connection",
    "Decision",
    "Declaration",
    "Definitions",
    "DefinitionsSummary",
    "Delivery",
    "Difference",
    "EffectiveSetting",
    "EffectiveSettings",
    "EmbeddedBroker",
    "Equivalence",
    "Error",
    "ExchangeDeclaration",
    "ExchangeTable",
    "Finding",
    "Happening",
    "ImpliedNames",
    "ImportEffect",
    "Ladder",
    "Migration",
    "MigrationOrder",
    "MigrationPlan",
    "Permissions",
    "Plan",
    "PlanSession",
    "PolicyDeclaration",
    "PredictedRefusal",
    "Prediction",
    "Problem",
    "Properties",
    "Published",
    "Question",
    "QueueContents",
    "QueueDeclaration",
    "QueueSight",
    "QueueStatus",
    "QueueTable",
    "Refusal",
    "RefusalValue",
    "RetryPolicy",
    "Route",
    "Router",
    "Rung",
    "Schedule",
    "State",
    "StoredMessage",
    "Tables",
    "TopicMatcher",
    "TopicPattern",
    "Topology",
    "TopologyBuilder",
    "TopologyProblem",
    "WrittenTopology",
    "abi_version",
    "audit",
    "audit_baseline",
    "audit_sarif",
    "call",
    "canonical",
    "check_name",
    "compare_queues",
    "consumer_declarations",
    "dead_letter_queue",
    "delay_text",
    "draw",
    "explain_finding",
    "fingerprint",
    "implied_names",
    "milliseconds",
    "milliseconds_from_nanoseconds",
    "milliseconds_from_seconds",
    "operations",
    "parked_queue",
    "parse_duration",
    "plan_migration",
    "predict",
    "read_refusal",
    "retry_queue",
    "simulate",
    "spec_version",
    "topic_matches",
    "version",
]
