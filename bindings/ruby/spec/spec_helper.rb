# frozen_string_literal: true

require "acemq/core"

RSpec.configure do |config|
  config.disable_monkey_patching!
  config.order = :random
end
