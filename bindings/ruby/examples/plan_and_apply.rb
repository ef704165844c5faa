# frozen_string_literal: true

# Plans a topology against a RabbitMQ broker and applies it, through bunny.
#
#     ruby plan_and_apply.rb amqp://guest:guest@localhost [TOPOLOGY.yaml] [--apply]
#
# The engine asks; this program puts each question to the broker on a channel of its own and hands the answer back. What to
# ask, in which order, and what the answers mean is the engine's.
#
# Exit 0 when the broker is as the topology says or was made so, 2 when creations are left, 3 when something differs, 1 else.

require "acemq/core"
require "bunny"

# A connection that is opened again when a refusal has closed it.
class Broker
  include AceMQ::Core

  def initialize(url)
    @url = url
    connect
  end

  # The one AMQP method that a question is, on a channel of its own.
  def ask(question)
    connect unless @connection.open?
    channel = @connection.create_channel
    answer = send_to(channel, question)
    channel.close
    answer
  rescue Bunny::ChannelLevelException => e
    Answer.refused(e.channel_close.reply_code, e.channel_close.reply_text)
  rescue Bunny::ConnectionLevelException => e
    Answer.refused(e.connection_close.reply_code, e.connection_close.reply_text, scope: :connection)
  rescue Bunny::Exception, Timeout::Error, IOError, SystemCallError => e
    Answer.failed(e.message)
  end

  def server_properties
    @connection.server_properties
  end

  def vhost
    @connection.vhost
  end

  def close
    @connection.close if @connection.open?
  end

  private

  def connect
    @connection = Bunny.new(@url, automatically_recover: false, logger: Logger.new(IO::NULL))
    @connection.start
  end

  def send_to(channel, question)
    declaration = question.declaration
    case question.ask
    when :queue_passive then counted(channel.queue_declare(question.name, passive: true))
    when :exchange_passive then done { channel.exchange_declare(question.name, "direct", passive: true) }
    when :set_policy then Answer.cannot("AMQP cannot set policies")
    when :bind then done { bind(channel, declaration) }
    else declare(channel, declaration)
    end
  end

  def declare(channel, declaration)
    options = declaration.to_h.slice(:durable, :exclusive, :auto_delete, :internal, :arguments)
    return counted(channel.queue_declare(declaration.name, options)) if declaration.is_a?(QueueDeclaration)

    done { channel.exchange_declare(declaration.name, declaration.type, options) }
  end

  def bind(channel, declaration)
    method = declaration.destination_type == "queue" ? :queue_bind : :exchange_bind
    options = { routing_key: declaration.routing_key, arguments: declaration.arguments }
    if method == :queue_bind
      channel.queue_bind(declaration.destination, declaration.source, options)
    else
      channel.exchange_bind(declaration.source, declaration.destination, options)
    end
  end

  def counted(declared)
    Answer.ok(messages: declared.message_count, consumers: declared.consumer_count)
  end

  def done
    yield
    Answer.ok
  end
end

# Orders that are tried again for a while, first in the consumer, then on queues in the broker.
def example
  AceMQ::Core::Topology.build do |b|
    b.exchange("orders", "topic")
     .queue_with_dead_letter("orders.new")
     .retries("orders.new", AceMQ::Core::RetryPolicy.parse("exponential(6, 10s, 5m)"))
     .bind("orders.new", "orders", "order.*")
  end
end

apply = !ARGV.delete("--apply").nil?
url, file = ARGV
abort "usage: ruby plan_and_apply.rb amqp://USER:PASSWORD@HOST [TOPOLOGY.yaml] [--apply]" if url.nil? || ARGV.size > 2

begin
  topology = file ? AceMQ::Core::Topology.parse(File.read(file)) : example
  broker = Broker.new(url)
  product, version = broker.server_properties.values_at("product", "version")
  session = AceMQ::Core::PlanSession.new(topology, product: product, version: version, vhost: broker.vhost, apply: apply)
  plan = session.run { |question| broker.ask(question) }
  broker.close
rescue AceMQ::Core::Error => e
  abort e.message
rescue Bunny::Exception, SystemCallError => e
  abort "no plan: #{e.message}"
end
puts plan
$stderr.puts plan.error if plan.error

summary = plan.summary
exit 3 if plan.error || summary["drift"].positive? || summary["invalid"].positive?
exit 2 if !apply && summary["create"].positive?
