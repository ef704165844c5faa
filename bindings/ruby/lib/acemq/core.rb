# frozen_string_literal: true

require "acemq/core/version"
require "acemq/core/native"
require "acemq/core/error"
require "acemq/core/operations"
require "acemq/core/values"
require "acemq/core/seconds"
require "acemq/core/names"
require "acemq/core/declarations"
require "acemq/core/retry"
require "acemq/core/topic"
require "acemq/core/refusal"
require "acemq/core/topology"
require "acemq/core/plan"
require "acemq/core/state"
require "acemq/core/router"
require "acemq/core/embedded_broker"
require "acemq/core/audit"
require "acemq/core/migration"

module AceMQ
  # What a RabbitMQ topology means: names, argument tables, retries, plans, routing, an embedded broker.
  #
  # Everything is computed by the engine, which the AceMQ libraries of every language share; this gem holds no rule of its
  # own. Durations are seconds, as Integer, Float or Rational: what is given is converted to whole milliseconds exactly or
  # refused. Whatever the engine refuses is an {Error} with every problem at once.
  #
  # @example
  #   AceMQ::Core.dead_letter_queue("orders")              # => "orders.dlq"
  #   policy = AceMQ::Core::RetryPolicy.exponential(attempts: 6, first: 10, cap: 300)
  #   policy.decide(attempt: 3).wait                        # => 40
  module Core
  end
end
