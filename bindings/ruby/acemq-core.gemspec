# frozen_string_literal: true

require_relative "lib/acemq/core/version"

# With the native library in lib/acemq/core/native this is a gem for this platform; without it, one that looks for
# ACEMQ_LIBRARY_PATH and the system's library.
Gem::Specification.new do |spec|
  spec.name = "acemq-core"
  spec.version = AceMQ::Core::VERSION
  spec.summary = "What a RabbitMQ topology means: tables, retries, plans, routing, an embedded broker"
  spec.description = "The engine that the AceMQ libraries of every language share, as idiomatic Ruby."
  spec.authors = ["AceMQ"]
  spec.licenses = ["MIT", "Apache-2.0"]
  spec.homepage = "https://github.com/acemq/acemq-core"
  spec.required_ruby_version = ">= 3.1"
  spec.metadata = { "rubygems_mfa_required" => "true" }

  native = Dir.glob("lib/acemq/core/native/*", base: __dir__)
  spec.platform = Gem::Platform.local unless native.empty?
  spec.files = Dir.glob("lib/**/*.rb", base: __dir__) + native + ["README.md"]
  spec.require_paths = ["lib"]

  spec.add_dependency "ffi", ">= 1.15", "< 2"
end
